// Two panes with a line between them that can be dragged, and moved with the arrow keys. The size is remembered under the name.
//
// Where the window is narrow, one pane is shown, or one is below the other.

import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";
import { Divider, useKeptSize } from "./divider.tsx";
import styles from "./split.module.css";
import { useNarrow } from "./use-narrow.ts";

interface SplitProps {
  /** What the size is remembered under. */
  readonly name: string;
  /** What the line between the panes is called, as in "Width of the list". */
  readonly label: string;
  readonly first: ComponentChildren;
  readonly second: ComponentChildren;
  /** Which pane has a fixed size; the other one has the rest. Default: `first`. */
  readonly sized?: "first" | "second";
  /** Of the sized pane, in pixels. */
  readonly initial: number;
  /** Default: 160. */
  readonly min?: number;
  /** The least that remains for the other pane, in pixels. Default: 240. */
  readonly minRest?: number;
  /** `columns`: side by side. Default: that. */
  readonly direction?: "columns" | "rows";
  /** What a narrow window shows. Default: both, stacked. */
  readonly narrow?: "first" | "second" | "stacked";
}

export function Split(props: SplitProps): VNode {
  const { first, second, sized = "first", direction = "columns", narrow = "stacked" } = props;
  const root = useRef<HTMLDivElement>(null);
  const [kept, keep] = useKeptSize(props.name);
  const size = kept ?? props.initial;
  const isNarrow = useNarrow();
  if (isNarrow && direction === "columns") {
    return (
      <div class={`${styles["split"]} ${styles["stacked"]}`}>
        {narrow !== "second" && <div class={styles["pane"]}>{first}</div>}
        {narrow !== "first" && <div class={styles["pane"]}>{second}</div>}
      </div>
    );
  }
  const fixed = { flexBasis: `${size}px` };
  return (
    <div ref={root} class={`${styles["split"]} ${styles[direction]}`}>
      <div
        class={`${styles["pane"]} ${sized === "first" ? styles["fixed"] : ""}`}
        style={sized === "first" ? fixed : {}}
      >
        {first}
      </div>
      <Divider
        label={props.label}
        size={size}
        onSize={keep}
        root={root}
        sized={sized}
        min={props.min}
        minRest={props.minRest}
        direction={direction}
      />
      <div
        class={`${styles["pane"]} ${sized === "second" ? styles["fixed"] : ""}`}
        style={sized === "second" ? fixed : {}}
      >
        {second}
      </div>
    </div>
  );
}
