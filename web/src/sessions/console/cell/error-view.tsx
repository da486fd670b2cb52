// An exception: what it is, and where it came from, which folds.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ExecutionResult } from "rlm-runtime/client";
import { Icon } from "../../../parts/icon.tsx";
import { AnsiText } from "../../../parts/rich/ansi-text.tsx";
import { toSafeText } from "../../../parts/safe-text.ts";
import styles from "./error-view.module.css";

type ExecutionError = NonNullable<ExecutionResult["error"]>;

const MAX_CHARACTERS = 2_000;
const MAX_TRACEBACK = 60_000;

interface ErrorViewProps {
  readonly error: ExecutionError;
  /** Somebody stopped the code: where it was is of little interest. */
  readonly isQuiet: boolean;
}

export function ErrorView({ error, isQuiet }: ErrorViewProps): VNode {
  const [isOpen, setOpen] = useState(!isQuiet);
  const { name, value, traceback } = error;
  const text = traceback.length > MAX_TRACEBACK ? `…${traceback.slice(-MAX_TRACEBACK)}` : traceback;
  return (
    <div class={`${styles["error"]} ${isQuiet ? styles["quiet"] : ""}`}>
      <button type="button" class={styles["title"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
        <span>
          <strong>{toSafeText(name, { maxCharacters: 200 })}</strong>
          {value !== "" && `: ${toSafeText(value, { hasLines: true, maxCharacters: MAX_CHARACTERS })}`}
        </span>
      </button>
      {isOpen && text !== "" && (
        <div class={styles["traceback"]}>
          <AnsiText text={text.trimEnd()} />
        </div>
      )}
    </div>
  );
}
