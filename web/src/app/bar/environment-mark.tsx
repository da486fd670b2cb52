// Where code runs, and how far it is kept in. Weak isolation is marked, and says what it does not stop.

import type { VNode } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { usePage } from "../../state/page.ts";
import { describeIsolation } from "./isolation.ts";
import styles from "./top-bar.module.css";

const EnvironmentDialog = lazy(() => import("./environment-dialog.tsx"));

export function EnvironmentMark(): VNode | null {
  const [isOpen, setOpen] = useState(false);
  const info = usePage().connection.info.value;
  if (info === undefined) return null;
  const { name, isWeak } = describeIsolation(info);
  const title = isWeak ? `Weak isolation: ${info.notStopped.join("; ")}` : "Where code runs";
  return (
    <>
      <Button
        kind="quiet"
        aria-haspopup="dialog"
        aria-label={`Where code runs: ${name}`}
        title={title}
        onClick={() => setOpen(true)}
      >
        {isWeak && (
          <span class={styles["weak"]}>
            <Icon name="warning" />
          </span>
        )}
        <span class={styles["environment"]}>{name}</span>
        {!isWeak && (
          <span class={styles["compact"]}>
            <Icon name="info" />
          </span>
        )}
      </Button>
      {isOpen && (
        <Suspense fallback={null}>
          <EnvironmentDialog info={info} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
