// Between cells: the namespace was replaced here.

import type { VNode } from "preact";
import type { ConsoleItem } from "../../state/sessions/console/console.ts";
import styles from "./mark.module.css";

type MarkItem = Extract<ConsoleItem, { readonly kind: "mark" }>;

const TEXTS: Readonly<Record<MarkItem["why"], string>> = {
  reset: "Reset: the names from above are gone",
  rewound: "Rewound: names are as they were at the checkpoint",
  restored: "The worker was lost: names are as they were at the last checkpoint",
  "worker-lost": "The worker was lost: the names from above are gone",
};

export function Mark({ why, time }: Pick<MarkItem, "why" | "time">): VNode {
  return (
    <div class={styles["mark"]} role="note">
      <span>{TEXTS[why]}</span>
      <time dateTime={new Date(time).toISOString()}>{new Date(time).toLocaleTimeString()}</time>
    </div>
  );
}
