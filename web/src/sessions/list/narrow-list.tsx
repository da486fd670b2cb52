// The list beside an open session: enough to go to another one.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Age } from "../../parts/feedback/age.tsx";
import { Icon } from "../../parts/icon.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { toAddress } from "../../state/router.ts";
import type { SessionList } from "../../state/sessions/session-list.ts";
import { NewSession } from "./new-session.tsx";
import styles from "./narrow-list.module.css";
import { activeAt, SessionState } from "./session-state.tsx";

interface NarrowListProps {
  readonly list: SessionList;
  /** The id of the open session. */
  readonly current: string;
}

export function NarrowList({ list, current }: NarrowListProps): VNode {
  const [isOpening, setOpening] = useState(false);
  const sessions = list.sessions.value ?? [];
  return (
    <nav class={styles["list"]} aria-label="Sessions">
      <header class={styles["header"]}>
        <a class={styles["title"]} href={toAddress({ place: "sessions" })}>
          Sessions
        </a>
        <Button kind="quiet" aria-label="New session" title="New session" onClick={() => setOpening(true)}>
          <Icon name="plus" />
        </Button>
      </header>
      <ul class={styles["items"]}>
        {sessions
          .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
          .map((info) => (
            <li key={info.id}>
              <a
                class={styles["item"]}
                href={toAddress({ place: "sessions", path: [info.id] })}
                aria-current={info.id === current ? "page" : undefined}
              >
                <SessionState info={info} isSmall />
                <span class={styles["id"]}>{toSafeText(info.id)}</span>
                <span class={styles["age"]}>
                  <Age since={activeAt(info)} />
                </span>
              </a>
            </li>
          ))}
      </ul>
      {isOpening && <NewSession list={list} onClose={() => setOpening(false)} />}
    </nav>
  );
}
