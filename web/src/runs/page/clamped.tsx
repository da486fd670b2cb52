// A text of a few lines, with a button for the rest where it has more than fit.

import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import styles from "./clamped.module.css";

interface ClampedProps {
  readonly children: ComponentChildren;
  /** A text of its own ends with an ellipsis; several blocks fade out. */
  readonly hasBlocks?: boolean;
}

export function Clamped({ children, hasBlocks = false }: ClampedProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isCut, setCut] = useState(false);
  useLayoutEffect(() => {
    const [outer, inner] = [box.current, content.current];
    if (isOpen || outer === null || inner === null) return undefined;
    const measure = (): void => setCut(outer.scrollHeight > outer.clientHeight + 1);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(outer);
    observer.observe(inner);
    return () => observer.disconnect();
  }, [isOpen]);
  const kind = hasBlocks ? "blocks" : "text";
  return (
    <>
      <div
        ref={box}
        class={[isOpen ? "" : styles[kind], hasBlocks && isCut && !isOpen ? styles["fading"] : ""].join(" ")}
      >
        <div ref={content}>{children}</div>
      </div>
      {isCut && (
        <button type="button" class={styles["more"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Less" : "More"}
        </button>
      )}
    </>
  );
}
