// The wheel zooms over the axis, and over the bars with Ctrl or Command. Sideways it moves along the time.

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { panned, spanOf, timeAt, zoomed } from "../../model/time-scale.ts";
import type { RunState } from "../../../state/runs/run.ts";

const WHEEL = 1.0015;

export function useWheelZoom(
  run: RunState,
  scroller: RefObject<HTMLElement | null>,
  timeHead: RefObject<HTMLElement | null>,
): void {
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const wheel = (event: WheelEvent): void => {
      const box = timeHead.current?.getBoundingClientRect();
      if (box === undefined || event.clientX < box.left) return;
      const isOverAxis = event.clientY >= box.top && event.clientY <= box.bottom;
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      const isZoom = (event.ctrlKey || event.metaKey || isOverAxis) && !isSideways;
      if (!isZoom && !isSideways) return;
      event.preventDefault();
      const range = run.range.value;
      const around = timeAt((event.clientX - box.left) / box.width, range);
      const moved = event.deltaX === 0 ? event.deltaY : event.deltaX;
      run.show(
        isZoom
          ? zoomed(range, run.bounds.value, around, WHEEL ** event.deltaY)
          : panned(range, run.bounds.value, (moved / box.width) * spanOf(range)),
      );
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [run]);
}
