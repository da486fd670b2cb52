// How many model calls were in flight, as a small area under the axis. The hatched part waited for a limit or a retry.

import type { VNode } from "preact";
import { memo } from "preact/compat";
import { useLayoutEffect, useRef } from "preact/hooks";
import { columnsOf, type Concurrency } from "../../model/concurrency.ts";
import type { TimeRange } from "../../model/time-scale.ts";
import { prepareCanvas, useThemeTurn } from "../use-size.ts";
import styles from "../timeline.module.css";

const HEIGHT = 32;

interface ConcurrencyChartProps {
  readonly concurrency: Concurrency;
  readonly range: TimeRange;
  readonly width: number;
}

export const ConcurrencyChart = memo(function ConcurrencyChart(props: ConcurrencyChartProps): VNode {
  const { concurrency, range, width } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useThemeTurn();
  useLayoutEffect(() => {
    const prepared = prepareCanvas(canvas.current, { width, height: HEIGHT });
    if (prepared === undefined) return;
    const { draw, colour } = prepared;
    const columns = columnsOf(concurrency, range, Math.max(1, Math.floor(width)));
    const unit = (HEIGHT - 4) / Math.max(1, concurrency.peak);
    const area = (heights: Int32Array, fill: string): void => {
      draw.fillStyle = fill;
      draw.beginPath();
      draw.moveTo(0, HEIGHT);
      for (const [x, height] of heights.entries()) {
        draw.lineTo(x, HEIGHT - height * unit);
        draw.lineTo(x + 1, HEIGHT - height * unit);
      }
      draw.lineTo(heights.length, HEIGHT);
      draw.fill();
    };
    draw.globalAlpha = 0.75;
    area(columns.calls, colour("--model"));
    draw.globalAlpha = 1;
    area(columns.waiting, colour("--wait"));
  }, [concurrency, range, width, theme]);
  const waited = concurrency.waiting.some((count) => count > 0);
  return (
    <canvas
      ref={canvas}
      class={styles["concurrency"]}
      role="img"
      aria-label={`Model calls in flight: at most ${concurrency.peak} at once${waited ? ", some of them waiting" : ""}`}
    />
  );
});
