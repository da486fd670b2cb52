import { describe, expect, test } from "vitest";
import { callsAt, columnsOf, concurrencyOf } from "../../../web/src/runs/model/concurrency.ts";
import { span } from "./outline-parts.ts";

const SPANS = [
  span({ startedAt: 0, endedAt: 100 }),
  span({ startedAt: 50, endedAt: 150, waits: [{ at: 60, delayMs: 20, fault: "rate-limit" }] }),
  span({ kind: "code", startedAt: 0, endedAt: 1_000 }),
  span({ startedAt: 150, endedAt: null, ok: null }),
];

describe("model calls in flight", () => {
  test("are counted at every moment, code is not", () => {
    const concurrency = concurrencyOf(SPANS, 300);
    expect(concurrency.peak).toBe(2);
    expect([-1, 0, 49, 50, 99, 100, 150, 299, 300].map((time) => callsAt(concurrency, time).calls)).toEqual([
      0, 1, 1, 2, 2, 1, 1, 1, 0,
    ]);
  });

  test("that wait for a limit or a retry are counted apart", () => {
    const concurrency = concurrencyOf(SPANS, 300);
    expect([59, 60, 79, 80].map((time) => callsAt(concurrency, time).waiting)).toEqual([0, 1, 1, 0]);
  });

  test("wait no longer than the call lasts", () => {
    const waits = [{ at: 10, delayMs: 10_000, fault: "server" }];
    const concurrency = concurrencyOf([span({ startedAt: 0, endedAt: 20, waits })], 300);
    expect(callsAt(concurrency, 21)).toEqual({ calls: 0, waiting: 0 });
  });

  test("show their peak in each column, however short it was", () => {
    const concurrency = concurrencyOf([...SPANS, span({ startedAt: 210, endedAt: 210.5 })], 300);
    const { calls, waiting } = columnsOf(concurrency, { from: 0, to: 300 }, 6);
    expect([...calls]).toEqual([1, 2, 1, 1, 2, 1]);
    expect([...waiting]).toEqual([0, 1, 0, 0, 0, 0]);
  });

  test("of a part of the time begin with what was in flight before it", () => {
    const { calls } = columnsOf(concurrencyOf(SPANS, 300), { from: 70, to: 90 }, 2);
    expect([...calls]).toEqual([2, 2]);
  });

  test("are none where there are none", () => {
    expect([...columnsOf(concurrencyOf([], 10), { from: 0, to: 10 }, 3).calls]).toEqual([0, 0, 0]);
  });
});
