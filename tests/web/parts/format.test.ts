import { expect, test } from "vitest";
import { formatAge, formatBytes, formatCost, formatCount, formatDuration } from "../../../web/src/parts/format.ts";

test("formatDuration() has the unit that fits, also at the edges", () => {
  const durations = [0, 340.4, 999.4, 999.6, 2_449, 59_949, 59_960, 60_000, 200_000, 3_599_999, 3_900_000];
  expect(durations.map(formatDuration)).toEqual([
    "0 ms",
    "340 ms",
    "999 ms",
    "1.0 s",
    "2.4 s",
    "59.9 s",
    "1 min 0 s",
    "1 min 0 s",
    "3 min 20 s",
    "59 min 59 s",
    "1 h 05 min",
  ]);
});

test("formatBytes() counts in thousands", () => {
  expect([0, 512, 999, 1_000, 999_949, 999_950, 2_000_000, 5e15].map(formatBytes)).toEqual([
    "0 B",
    "512 B",
    "999 B",
    "1.0 kB",
    "999.9 kB",
    "1.0 MB",
    "2.0 MB",
    "5000.0 TB",
  ]);
});

test("formatCount() is short from ten thousand on", () => {
  expect([0, 1_234, 9_999, 10_000, 56_700, 999_949, 999_950, 1_200_000].map(formatCount)).toEqual([
    "0",
    "1,234",
    "9,999",
    "10.0k",
    "56.7k",
    "999.9k",
    "1.0M",
    "1.2M",
  ]);
});

test("formatCost() never shows nothing for something", () => {
  expect([null, 0, 0.000_01, 0.0042, 0.1, 1.2].map(formatCost)).toEqual([
    "–",
    "$0.00",
    "<$0.0001",
    "$0.0042",
    "$0.10",
    "$1.20",
  ]);
});

test("formatAge() has one unit", () => {
  expect([-5, 1_999, 12_000, 240_000, 3 * 3_600_000, 50 * 3_600_000].map(formatAge)).toEqual([
    "now",
    "now",
    "12 s",
    "4 min",
    "3 h",
    "2 d",
  ]);
});
