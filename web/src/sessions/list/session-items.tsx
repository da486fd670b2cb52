// Sessions in two lines each: the list on a phone.

import type { VNode } from "preact";
import type { SessionInfo } from "rlm-runtime/client";
import { Age } from "../../parts/feedback/age.tsx";
import { formatBytes } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { toAddress } from "../../state/router.ts";
import styles from "./session-items.module.css";
import { activeAt, environmentOf, SessionState } from "./session-state.tsx";

export function SessionItems({ sessions }: { readonly sessions: readonly SessionInfo[] }): VNode {
  return (
    <ul class={styles["items"]} aria-label="List of sessions">
      {sessions
        .toSorted((a, b) => Date.parse(activeAt(b)) - Date.parse(activeAt(a)))
        .map((info) => (
          <li key={`${info.id} ${info.createdAt}`}>
            <a class={styles["item"]} href={toAddress({ place: "sessions", path: [info.id] })}>
              <span class={styles["id"]}>{toSafeText(info.id)}</span>
              <span class={styles["facts"]}>
                <SessionState info={info} />
                <span>{environmentOf(info)}</span>
                {info.memoryBytes !== null && <span class="figures">{formatBytes(info.memoryBytes)}</span>}
                <span class={styles["age"]}>
                  <Age since={activeAt(info)} suffix=" ago" />
                </span>
              </span>
            </a>
          </li>
        ))}
    </ul>
  );
}
