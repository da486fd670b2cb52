// After going somewhere, the focus is on the heading there, so that readers of the screen hear where they are, and Tab goes on from it.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A view that is loaded on demand may take this long. */
const WAIT_MS = 3_000;

/** `where` changes when the reader goes to another place. The focus stays where it is when the page opens, and where the view puts it. */
export function useHeadingFocus(main: RefObject<HTMLElement | null>, where: string): void {
  const last = useRef(where);
  useEffect(() => {
    const { current: root } = main;
    if (last.current === where || root === null) return;
    last.current = where;
    const before = document.activeElement;
    const focus = (): boolean => {
      const { activeElement } = document;
      if (activeElement !== before && root.contains(activeElement)) return true;
      const heading = root.querySelector<HTMLElement>("h1");
      if (heading === null) return false;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
      return true;
    };
    // The view may still be loading.
    const observer = new MutationObserver(() => focus() && observer.disconnect());
    const frame = requestAnimationFrame(() => !focus() && observer.observe(root, { childList: true, subtree: true }));
    const timer = setTimeout(() => observer.disconnect(), WAIT_MS);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [where]);
}
