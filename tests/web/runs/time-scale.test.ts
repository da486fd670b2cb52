import { describe, expect, test } from "vitest";
import {
  clamped,
  formatMoment,
  fractionAt,
  panned,
  ticksOf,
  timeAt,
  zoomed,
} from "../../../web/src/runs/model/time-scale.ts";

const BOUNDS = { from: 1_000, to: 11_000 };

describe("the time axis", () => {
  test("places a moment, and finds it again", () => {
    expect(fractionAt(3_500, BOUNDS)).toBe(0.25);
    expect(timeAt(0.25, BOUNDS)).toBe(3_500);
    expect(fractionAt(5, { from: 7, to: 7 })).toBe(0);
  });

  test("zooms around the moment under the pointer", () => {
    const range = zoomed(BOUNDS, BOUNDS, 3_500, 0.5);
    expect(range).toEqual({ from: 2_250, to: 7_250 });
    expect(fractionAt(3_500, range)).toBe(0.25);
  });

  test("never shows more than the run, nor less than 2 ms", () => {
    expect(zoomed({ from: 2_000, to: 3_000 }, BOUNDS, 2_500, 1_000)).toEqual(BOUNDS);
    const close = zoomed(BOUNDS, BOUNDS, 1_000, 1e-9);
    expect(close).toEqual({ from: 1_000, to: 1_002 });
    expect(clamped({ from: 10_999, to: 11_000 }, BOUNDS)).toEqual({ from: 10_998, to: 11_000 });
  });

  test("keeps its length when it is moved to an end", () => {
    expect(panned({ from: 2_000, to: 4_000 }, BOUNDS, -5_000)).toEqual({ from: 1_000, to: 3_000 });
    expect(panned({ from: 2_000, to: 4_000 }, BOUNDS, 50_000)).toEqual({ from: 9_000, to: 11_000 });
  });

  test("has round ticks, counted from the beginning of the run", () => {
    expect(ticksOf({ from: 3_200, to: 8_000 }, 1_000, 0.25)).toEqual([
      { time: 5_000, label: "4 s" },
      { time: 7_000, label: "6 s" },
    ]);
    const minutes = ticksOf({ from: 0, to: 400_000 }, 0, 0.3);
    expect(minutes.map(({ label }) => label)).toEqual(["0 s", "2:00", "4:00", "6:00"]);
  });

  test("says a moment as exactly as it is needed", () => {
    expect(formatMoment(0, 500)).toBe("0 s");
    expect(formatMoment(350, 50)).toBe("350 ms");
    expect(formatMoment(1_500, 500)).toBe("1.5 s");
    expect(formatMoment(1_234, 1)).toBe("1.234 s");
    expect(formatMoment(150_000, 10_000)).toBe("2:30");
    expect(formatMoment(65_250, 50)).toBe("1:05.25");
    expect(formatMoment(3_900_000, 60_000)).toBe("1:05:00");
  });
});
