import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../../src/backends/estimate-tokens.ts";
import { TokenEstimator } from "../../../src/rlm/ledger/token-estimate.ts";

describe("estimateTokens()", () => {
  test("is a third of the bytes, so that scripts with three bytes a character count whole", () => {
    expect(["", "a", "abc", "abcd", "漢字", "👋"].map((text) => estimateTokens(text))).toEqual([0, 1, 1, 2, 2, 2]);
  });
});

describe("TokenEstimator", () => {
  const messages = ["x".repeat(3000), "y".repeat(300)];

  test("counts every message with its frame", () => {
    expect(new TokenEstimator().estimate("m", messages)).toBe(1000 + 8 + 100 + 8);
  });

  test("is at least what was reported before for the same messages, for any report", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 10_000 }), (first, second) => {
        const estimator = new TokenEstimator();
        estimator.learn("m", messages, first);
        expect(estimator.estimate("m", messages)).toBeGreaterThanOrEqual(first);
        estimator.learn("m", messages, second);
        expect(estimator.estimate("m", messages)).toBeGreaterThanOrEqual(second);
      }),
    );
  });

  test("converges to a little more than repeated reports, for that model only", () => {
    const estimator = new TokenEstimator();
    for (let call = 0; call < 30; call += 1) estimator.learn("m", messages, 600);
    expect(estimator.estimate("m", messages)).toBeGreaterThanOrEqual(660);
    expect(estimator.estimate("m", messages)).toBeLessThan(665);
    expect(estimator.estimate("other", messages)).toBe(1116);
    // An answer is never estimated below its bytes, and above them where the model is known to count more tokens.
    expect(estimator.estimatesOf("m", 5).tokensOf("x".repeat(300))).toBe(100);
    estimator.learn("m", messages, 2232);
    expect(estimator.estimatesOf("m", 5).tokensOf("x".repeat(300))).toBeGreaterThanOrEqual(220);
  });

  test("remembers the most hidden reasoning of a model", () => {
    const estimator = new TokenEstimator();
    for (const reasoningTokens of [0, 700, 300]) estimator.learnHidden("m", "abc", { reasoningTokens });
    expect(estimator.estimatesOf("m", 5).hiddenTokens).toBe(699);
    expect(estimator.estimatesOf("other", 5).hiddenTokens).toBe(0);
  });

  test("learns nothing from small requests and invalid reports", () => {
    const estimator = new TokenEstimator();
    estimator.learn("m", ["hi"], 500);
    for (const report of [0, -5, Number.NaN, Infinity]) estimator.learn("m", messages, report);
    expect(estimator.estimate("m", messages)).toBe(1116);
  });
});
