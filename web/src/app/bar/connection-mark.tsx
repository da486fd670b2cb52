// Whether the server answers: a shape and a word.

import type { VNode } from "preact";
import { Age } from "../../parts/feedback/age.tsx";
import { usePage } from "../../state/page.ts";
import styles from "./top-bar.module.css";

export function ConnectionMark(): VNode {
  const { connection } = usePage();
  const status = connection.status.value;
  const isOnline = connection.isOnline.value;
  const look = status.state === "live" ? "live" : isOnline ? "lost" : "offline";
  return (
    <span class={styles["mark"]} title={location.host}>
      <svg class={`${styles["shape"]} ${styles[look]}`} width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        {SHAPES[look]}
      </svg>
      <span role="status">{look === "live" ? "Live" : look === "lost" ? "Reconnecting" : "Offline"}</span>
      {status.state === "lost" && <Age since={status.since} />}
    </span>
  );
}

const SHAPES = {
  live: <circle cx="6" cy="6" r="4" fill="currentColor" />,
  lost: (
    <path d="M10 6a4 4 0 1 1-1.2-2.8" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
  ),
  offline: (
    <path d="m2.5 2.5 7 7m0-7-7 7" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
  ),
};
