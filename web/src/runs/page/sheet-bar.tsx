// The top of a sheet that covers the table on a phone: the way back, which has the focus at first. Back in the browser does the same.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { isSheetEntry, pushSheetEntry } from "../../state/sheet-entry.ts";
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
  const latest = useRef(onClose);
  latest.current = onClose;
  // At once: what is selected gets its address soon after, in this entry. Subscribed once, because a listener that is replaced while the
  // event is on its way misses it.
  useLayoutEffect(() => {
    pushSheetEntry();
    const follow = (): void => {
      if (!isSheetEntry()) latest.current();
    };
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  const close = (): void => {
    onClose();
    if (isSheetEntry()) history.back();
  };
  return (
    <div ref={bar} class={styles["bar"]}>
      <Button kind="quiet" onClick={close}>
        <Icon name="arrow-left" />
        {back}
      </Button>
      {children}
    </div>
  );
}
