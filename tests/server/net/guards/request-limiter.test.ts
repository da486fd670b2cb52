import { describe, expect, test } from "vitest";
import { RequestLimiter } from "../../../../src/server/net/guards/request-limiter.ts";
import { TokenBuckets } from "../../../../src/server/net/guards/token-buckets.ts";

describe("token buckets", () => {
  test("allow a burst, then a rate, separately for each key", () => {
    let now = 0;
    const rates = new TokenBuckets({ perSecond: 2, burst: 3 }, () => now);
    expect([1, 2, 3].map(() => rates.take("a"))).toEqual([0, 0, 0]);
    expect(rates.take("a")).toBe(0.5);
    expect(rates.take("b")).toBe(0);
    now = 499;
    expect(rates.take("a")).toBeCloseTo(0.001);
    now = 500;
    expect(rates.take("a")).toBe(0);
    now = 1_000_000;
    expect([1, 2, 3, 4].map(() => rates.take("a") > 0)).toEqual([false, false, false, true]);
  });

  test("their number is limited", () => {
    const rates = new TokenBuckets({ perSecond: 1, burst: 1 }, () => 0, 100);
    for (let number = 0; number < 1000; number += 1) rates.take(`address ${number}`);
    expect(rates.size).toBe(100);
    expect(rates.take("address 999")).toBe(1);
  });
});

describe("limits", () => {
  test("exceeding the rate gives 429 with the seconds to wait, rounded up", () => {
    let now = 0;
    const limits = new RequestLimiter({ rate: { perSecond: 0.4, burst: 1 } }, () => now);
    expect(limits.enter("10.0.0.1")).toBeUndefined();
    expect(limits.enter("10.0.0.1")).toMatchObject({
      status: 429,
      code: "RATE_LIMITED",
      headers: { "retry-after": "3" },
    });
    now = 3000;
    expect(limits.enter("10.0.0.1")).toBeUndefined();
  });

  test("too many concurrent requests give 503 until one has left", () => {
    const limits = new RequestLimiter({ requests: 2 });
    expect([limits.enter("a"), limits.enter("b"), limits.checkLoad()]).toEqual([undefined, undefined, undefined]);
    const full = { status: 503, code: "OVERLOADED", headers: { "retry-after": "1" } };
    limits.enter("c");
    expect(limits.checkLoad()).toMatchObject(full);
    limits.leave();
    expect(limits.checkLoad()).toBeUndefined();
  });

  test("light requests have a reserve of a hundred", () => {
    const limits = new RequestLimiter({ requests: 2 });
    const entered = Array.from({ length: 103 }, () => limits.enter("a"));
    expect(entered.slice(0, 102).every((problem) => problem === undefined)).toBe(true);
    expect(entered[102]).toMatchObject({ status: 503, code: "OVERLOADED" });
  });

  test.each([
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::9", true],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:3::9", false],
    ["::1", "::2", true],
    ["fe80::1", "::1", false],
    ["::ffff:10.0.0.1", "10.0.0.1", true],
    ["::ffff:10.0.0.1", "::ffff:10.0.0.2", false],
  ])("%s and %s share a rate: %s", (one, other, shares) => {
    const limits = new RequestLimiter({ rate: { perSecond: 1, burst: 1 } }, () => 0);
    limits.enter(one);
    expect(limits.enter(other) !== undefined).toBe(shares);
  });
});
