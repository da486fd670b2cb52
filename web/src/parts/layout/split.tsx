// Two panes with a line between them that can be dragged, and moved with the arrow keys. The size is remembered under the name.
//
// Where the window is narrow, one pane is shown, or one is below the other.

import type { ComponentChildren, VNode } from "preact";
import { useRef, useState } from "preact/hooks";
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

const STEP_PX = 16;

export function Split(props: SplitProps): VNode {
  const { first, second, sized = "first", direction = "columns", narrow = "stacked" } = props;
  const root = useRef<HTMLDivElement>(null);
  const [size, setSize] = useSize(props.name, props.initial);
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
      <Divider {...props} size={size} onSize={setSize} root={root} />
      <div
        class={`${styles["pane"]} ${sized === "second" ? styles["fixed"] : ""}`}
        style={sized === "second" ? fixed : {}}
      >
        {second}
      </div>
    </div>
  );
}

interface DividerProps extends SplitProps {
  readonly size: number;
  readonly root: { readonly current: HTMLElement | null };
  readonly onSize: (size: number) => void;
}

function Divider(props: DividerProps): VNode {
  const {
    label,
    sized = "first",
    initial,
    min = 160,
    minRest = 240,
    direction = "columns",
    size,
    root,
    onSize,
  } = props;
  const [isDragged, setDragged] = useState(false);
  const isColumns = direction === "columns";
  const change = (wanted: number): void => {
    const box = root.current?.getBoundingClientRect();
    const whole = box === undefined ? Infinity : isColumns ? box.width : box.height;
    onSize(Math.round(Math.max(min, Math.min(wanted, whole - minRest))));
  };
  const drag = (event: PointerEvent): void => {
    const box = root.current?.getBoundingClientRect();
    if (!isDragged || box === undefined) return;
    const at = isColumns ? event.clientX - box.left : event.clientY - box.top;
    change(sized === "first" ? at : (isColumns ? box.width : box.height) - at);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const grow = isColumns ? "ArrowRight" : "ArrowDown";
    const shrink = isColumns ? "ArrowLeft" : "ArrowUp";
    const sign = sized === "first" ? 1 : -1;
    if (event.key === grow) change(size + sign * STEP_PX);
    else if (event.key === shrink) change(size - sign * STEP_PX);
    else if (event.key === "Home") change(min);
    else if (event.key === "End") change(Infinity);
    else if (event.key === "Enter") change(initial);
    else return;
    event.preventDefault();
  };
  return (
    <div
      class={`${styles["divider"]} ${isDragged ? styles["dragged"] : ""}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={isColumns ? "vertical" : "horizontal"}
      aria-valuemin={min}
      aria-valuemax={Math.max(size, (isColumns ? innerWidth : innerHeight) - minRest)}
      aria-valuenow={size}
      title="Drag, or use the arrow keys. Double-click resets."
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragged(true);
      }}
      onPointerMove={drag}
      onPointerUp={() => setDragged(false)}
      onPointerCancel={() => setDragged(false)}
      onDblClick={() => change(initial)}
      onKeyDown={onKeyDown}
    />
  );
}

function useSize(name: string, initial: number): [number, (size: number) => void] {
  const key = `rlm-split-${name}`;
  const [size, setSize] = useState(() => {
    const kept = Number(localStorage.getItem(key));
    return Number.isFinite(kept) && kept > 0 ? kept : initial;
  });
  const keep = (next: number): void => {
    setSize(next);
    localStorage.setItem(key, String(next));
  };
  return [size, keep];
}
