// The moment under the pointer, as a line over all rows. It moves without rendering anything.

import { useEffect, useRef } from "preact/hooks";
import { formatMoment, spanOf, timeAt, type TimeRange } from "../../model/time-scale.ts";

export interface CursorLine {
  readonly body: { current: HTMLDivElement | null };
  readonly line: { current: HTMLDivElement | null };
  readonly label: { current: HTMLSpanElement | null };
}

export function useCursorLine(range: TimeRange, bounds: TimeRange): CursorLine {
  const body = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const label = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const element = body.current;
    if (element === null) return undefined;
    const place = (event: PointerEvent): void => {
      const lines = line.current?.parentElement?.getBoundingClientRect();
      if (lines === undefined || line.current === null || label.current === null) return;
      const x = event.clientX - lines.left;
      const isOver = x >= 0 && x <= lines.width && event.pointerType !== "touch";
      line.current.hidden = !isOver;
      label.current.hidden = !isOver;
      if (!isOver) return;
      line.current.style.left = `${x}px`;
      label.current.style.left = `${x + 6}px`;
      const time = timeAt(x / lines.width, range);
      label.current.textContent = formatMoment(time - bounds.from, Math.max(1, spanOf(range) / 200));
    };
    const hide = (): void => {
      if (line.current !== null) line.current.hidden = true;
      if (label.current !== null) label.current.hidden = true;
    };
    element.addEventListener("pointermove", place);
    element.addEventListener("pointerleave", hide);
    return () => {
      element.removeEventListener("pointermove", place);
      element.removeEventListener("pointerleave", hide);
    };
  }, [range, bounds.from]);
  return { body, line, label };
}
