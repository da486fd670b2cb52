// The top of a sheet that covers the table on a phone: the way back, which has the focus at first.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import styles from "./sheet-bar.module.css";

interface SheetBarProps {
  /** As in "Back to the table". */
  readonly back: string;
  onClose(): void;
  readonly children?: ComponentChildren;
}

export function SheetBar({ back, onClose, children }: SheetBarProps): VNode {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    bar.current?.querySelector("button")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <div ref={bar} class={styles["bar"]}>
      <Button kind="quiet" onClick={onClose}>
        <Icon name="arrow-left" />
        {back}
      </Button>
      {children}
    </div>
  );
}
