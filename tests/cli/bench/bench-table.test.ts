import { expect, test } from "vitest";
import { HEADING, LEGEND, toTableRow } from "../../../src/cli/bench/bench-table.ts";
import { MEASURES, type Measure } from "../../../src/cli/bench/measures.ts";
import { judge, toFailure, toMissing, toResult } from "../../../src/cli/bench/result.ts";
import { textWidth } from "../../../src/util/text/text-width.ts";

function measure(facts: Partial<Measure>): Measure {
  return { name: "execute x = 1", usual: { ratio: 8 }, prepare: () => ({ ours: async () => 0 }), ...facts };
}

test("a result is judged by its ratio to the floor, or by its time where there is no floor", () => {
  const verdict = (oursMs: number, floorMs: number | null, facts: Partial<Measure> = {}): string =>
    toResult(measure(facts), { oursMs, floorMs }).verdict;
  expect([verdict(8, 1), verdict(8.1, 1), verdict(24, 1), verdict(24.1, 1)]).toEqual([
    "good",
    "slow",
    "slow",
    "very slow",
  ]);
  const usual = { ms: 25 };
  expect([verdict(25, null, { usual }), verdict(26, null, { usual })]).toEqual(["good", "slow"]);
});

test("a row shows both, the ratio, what is usual and the verdict", () => {
  expect(HEADING).toBe("WHAT                      OURS        FLOOR       RATIO   USUAL      VERDICT");
  const row = (oursMs: number, floorMs: number | null, facts: Partial<Measure> = {}): string =>
    toTableRow(toResult(measure(facts), { oursMs, floorMs }));
  expect(row(0.0284, 0.0157)).toBe("execute x = 1             28 us       16 us       1.8     ≤ 8 x      good");
  expect(row(64, 16, { name: "print 64 MB", bytes: 64_000_000 })).toBe(
    "print 64 MB               1,000 MB/s  4,000 MB/s  4.0     ≤ 8 x      good",
  );
  expect(row(12_345, null, { usual: { ms: 25 } })).toBe(
    "execute x = 1             12 s        -           -       ≤ 25 ms    very slow",
  );
});

test("a failure is shown with its reason, and is not ok; what cannot be done here is", () => {
  const good = toResult(measure({}), { oursMs: 1, floorMs: 1 });
  const slow = toResult(measure({}), { oursMs: 9, floorMs: 1 });
  const failed = toFailure(measure({}), new Error("it took longer than 30 s"));
  const missing = toMissing(measure({}));
  expect(toTableRow(failed)).toMatch(/^execute x = 1 .* failed\n {2}it took longer than 30 s$/);
  expect(toTableRow(missing)).toMatch(/ not here$/);
  expect(judge([good, missing])).toEqual({ ok: true, isSlow: false });
  expect(judge([good, slow])).toEqual({ ok: true, isSlow: true });
  expect(judge([good, slow, failed])).toEqual({ ok: false, isSlow: true });
});

test("everything fits 80 columns", () => {
  const rows = MEASURES.map((one) => toTableRow(toResult(one, { oursMs: 9999, floorMs: 0.001 })));
  for (const line of [HEADING, ...LEGEND.split("\n"), ...rows]) expect(textWidth(line)).toBeLessThan(80);
});
