// Shows more of a text: as quiet as a link.

import type { ComponentChildren, VNode } from "preact";
import styles from "./transcript.module.css";

interface MoreButtonProps {
  onClick(): void;
  readonly children: ComponentChildren;
}

export function MoreButton({ onClick, children }: MoreButtonProps): VNode {
  return (
    <button type="button" class={styles["more"]} onClick={onClick}>
      {children}
    </button>
  );
}
