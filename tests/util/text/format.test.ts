import { expect, test } from "vitest";
import {
  formatAge,
  formatCost,
  formatCount,
  formatDuration,
  formatSeconds,
  formatSize,
  formatTime,
  formatTokens,
} from "../../../src/util/text/format.ts";

const MIB = 1024 ** 2;

test.each([
  [formatCount(1234), "1,234"],
  [formatCount(0.123456), "0.1235"],
  [formatCount(1, "call"), "1 call"],
  [formatCount(0, "call"), "0 calls"],
  [formatCount(12_345, "call"), "12,345 calls"],
  [formatTokens(9_999), "9,999 tokens"],
  [formatTokens(12_345), "12.3k tokens"],
  [formatTokens(1_250_000), "1.25M tokens"],
  [formatCost(null), "cost unknown"],
  [formatCost(0), "$0.00"],
  [formatCost(0.00123), "$0.0012"],
  [formatCost(0.00004), "<$0.0001"],
  [formatCost(12.3), "$12.30"],
  [formatSize(1), "1 byte"],
  [formatSize(1023), "1,023 bytes"],
  [formatSize(1536), "1.5 KiB"],
  [formatSize(10.1 * MIB), "10.1 MiB"],
  [formatSize(2 * 1024 * MIB), "2.0 GiB"],
  [formatSize(5000 * 1024 ** 4), "5000.0 TiB"],
  [formatSeconds(-5), "0.0 s"],
  [formatSeconds(499), "0.5 s"],
  [formatSeconds(60_000), "1 min 0 s"],
  [formatSeconds(119_999), "1 min 59 s"],
  [formatDuration(12.4), "12 ms"],
  [formatDuration(1200), "1.2 s"],
  [formatDuration(125_000), "2 min 5 s"],
  [formatAge(-1), "0 s"],
  [formatAge(59_999), "59 s"],
  [formatAge(3_599_000), "59 min"],
  [formatAge(47 * 3_600_000), "47 h"],
  [formatAge(48 * 3_600_000), "2 d"],
  [formatTime(Number.NaN), "?"],
])("%j reads %j", (formatted, expected) => {
  expect(formatted).toBe(expected);
});

test("a time is shown in the time zone of this machine", () => {
  expect(formatTime(new Date(2026, 0, 2, 3, 4, 5, 678).getTime())).toBe("2026-01-02 03:04:05");
});
