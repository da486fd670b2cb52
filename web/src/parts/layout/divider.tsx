// The line between two things beside each other. It can be dragged, and moved with the arrow keys.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import styles from "./divider.module.css";

export interface DividerProps {
  /** What the line is called, as in "Width of the list". */
  readonly label: string;
  /** Of the sized one, in pixels. */
  readonly size: number;
  /** Undefined: as it is at first. */
  readonly onSize: (size: number | undefined) => void;
  /** What both are in. */
  readonly root: { readonly current: HTMLElement | null };
  /** Which of them has a fixed size; the other one has the rest. Default: `first`. */
  readonly sized?: "first" | "second" | undefined;
  /** Default: 160. */
  readonly min?: number | undefined;
  /** The least that remains for the other one, in pixels. Default: 240. */
  readonly minRest?: number | undefined;
  /** `columns`: side by side. Default: that. */
  readonly direction?: "columns" | "rows" | undefined;
}

const STEP_PX = 16;

export function Divider(props: DividerProps): VNode {
  const { label, size, onSize, root, sized = "first", min = 160, minRest = 240, direction = "columns" } = props;
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
    else if (event.key === "Enter") onSize(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <div
      class={`${styles["divider"]} ${styles[direction]} ${isDragged ? styles["dragged"] : ""}`}
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
      onDblClick={() => onSize(undefined)}
      onKeyDown={onKeyDown}
    />
  );
}

/** In pixels, as the reader left it in this browser. Undefined: nobody has changed it. */
export function useKeptSize(name: string): [number | undefined, (size: number | undefined) => void] {
  const key = `rlm-split-${name}`;
  const [size, setSize] = useState(() => {
    const kept = Number(localStorage.getItem(key));
    return Number.isFinite(kept) && kept > 0 ? kept : undefined;
  });
  const keep = (next: number | undefined): void => {
    setSize(next);
    if (next === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, String(next));
  };
  return [size, keep];
}
