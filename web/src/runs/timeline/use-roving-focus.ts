// Keeps the focus on the selected row while it is in the table, also where that row was drawn anew far away.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** `grid`: what the rows are in. Call it where the rows are rendered: it looks after every rendering. */
export function useRovingFocus(grid: RefObject<HTMLElement | null>, selectedIndex: number): void {
  const wasInside = useRef(false);
  const lastIndex = useRef(selectedIndex);
  useEffect(() => {
    // A row that is taken out of the page loses the focus without an event, so what is left by hand is noted.
    const note = ({ target }: Event): void => {
      wasInside.current = target instanceof Node && grid.current?.contains(target) === true;
    };
    addEventListener("focusin", note);
    addEventListener("pointerdown", note);
    return () => {
      removeEventListener("focusin", note);
      removeEventListener("pointerdown", note);
    };
  }, []);
  useLayoutEffect(() => {
    const isMoved = lastIndex.current !== selectedIndex;
    lastIndex.current = selectedIndex;
    const isLost = document.activeElement === document.body;
    if (!wasInside.current || !(isMoved || isLost)) return;
    if (document.activeElement?.closest("[role=row]") === null && !isLost) return;
    grid.current?.querySelector<HTMLElement>("[role=row][tabindex='0']")?.focus({ preventScroll: true });
  });
}
