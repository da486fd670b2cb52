import { expect, test } from "vitest";
import { Allowance } from "../../../../src/backends/dispatch/limits/allowance.ts";
import type { RateLimits } from "../../../../src/backends/rate-limits.ts";

const NONE_PENDING = { tokens: 100, pending: 0 };

/** Tells how long requests wait, one after the other, after what a provider said at time 0. */
function delaysAfter(limits: RateLimits, sizes = NONE_PENDING, requests = 3): number[] {
  const allowance = new Allowance();
  allowance.learn(limits, sizes, 0);
  return Array.from({ length: requests }, () => {
    const delayMs = allowance.delayMs(0);
    allowance.send(0);
    return Math.round(delayMs);
  });
}

test.each<[string, RateLimits, { tokens: number; pending: number }, number[]]>([
  ["that says nothing", {}, NONE_PENDING, [0, 0, 0]],
  ["with two left, of 60 a minute", gradual({ remaining: 2, limit: 60, resetMs: 58_000 }), NONE_PENDING, [0, 0, 1000]],
  [
    "with two left, which two others take",
    gradual({ remaining: 2, limit: 60, resetMs: 58_000 }),
    { tokens: 100, pending: 2 },
    [1000, 2000, 3000],
  ],
  ["with none until the reset", atReset({ remaining: 0, resetMs: 7000 }), NONE_PENDING, [7000, 7000, 7000]],
  ["with one until the reset", atReset({ remaining: 1, resetMs: 7000 }), NONE_PENDING, [0, 7000, 7000]],
  [
    "with none until a reset that is far away",
    atReset({ remaining: 0, resetMs: 3_600_000 }),
    NONE_PENDING,
    [60_000, 60_000, 60_000],
  ],
  ["with a limit of 0, which means none", atReset({ remaining: 0, limit: 0, resetMs: 7000 }), NONE_PENDING, [0, 0, 0]],
  [
    "with tokens for one",
    { tokens: { remaining: 150, limit: 6000, resetMs: 58_500, refill: "gradual" } },
    NONE_PENDING,
    [0, 500, 1500],
  ],
])("a provider %s", (_, limits, sizes, expected) => {
  expect(delaysAfter(limits, sizes)).toEqual(expected);
});

test("the reset is awaited and not longer", () => {
  const allowance = new Allowance();
  allowance.learn(atReset({ remaining: 0, resetMs: 7000 }), NONE_PENDING, 0);
  expect([6999, 7000].map((now) => allowance.delayMs(now))).toEqual([1, 0]);
});

test("headers that were wrong are not believed any more", () => {
  const allowance = new Allowance();
  const wrong = atReset({ remaining: 0, resetMs: 3_600_000 });
  allowance.learn(wrong, NONE_PENDING, 0);
  expect(allowance.delayMs(60_000)).toBe(0);
  allowance.send(60_000);
  allowance.learn(wrong, NONE_PENDING, 60_100); // it was accepted
  expect(allowance.delayMs(60_100)).toBe(0);
});

function gradual(quota: { remaining: number; limit: number; resetMs: number }): RateLimits {
  return { requests: { ...quota, refill: "gradual" } };
}

function atReset(quota: { remaining: number; limit?: number; resetMs: number }): RateLimits {
  return { requests: { ...quota, refill: "at-reset" } };
}
