// What stands where there is nothing yet: why, and what to do.

import type { ComponentChildren, VNode } from "preact";
import styles from "./empty.module.css";

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function Empty({ title, children }: EmptyProps): VNode {
  return (
    <div class={styles["empty"]}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
