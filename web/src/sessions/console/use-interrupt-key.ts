// Ctrl-C interrupts what runs, as in a terminal, unless something is selected: then it copies, as in a page.

import { useEffect, useRef } from "preact/hooks";
import type { SessionActions } from "../use-session-actions.ts";

export function useInterruptKey(actions: SessionActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isCtrlC = event.key === "c" && event.ctrlKey && !event.shiftKey && !event.altKey && !event.metaKey;
      if (!isCtrlC || event.defaultPrevented || !latest.current.isRunning || hasSelection(event.target)) return;
      event.preventDefault();
      latest.current.interrupt();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function hasSelection(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)
    return target.selectionStart !== target.selectionEnd;
  return getSelection()?.isCollapsed === false;
}
