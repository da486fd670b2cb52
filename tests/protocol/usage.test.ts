import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addUsage,
  modelUsage,
  NO_USAGE,
  subtractUsage,
  toModelUsage,
  toNanoUsd,
  toReservedNanoUsd,
  toUsd,
  type ModelUsage,
} from "../../src/protocol/usage.ts";

const count = fc.nat({ max: 1_000_000 });
const nanoUsd = fc.nat({ max: 1_000_000_000_000 });
const usage: fc.Arbitrary<ModelUsage> = fc.record({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
  tokens: count,
  estimatedTokens: count,
  costUsd: fc.oneof(nanoUsd.map(toUsd), fc.constant(null)),
  llmCalls: count,
  toolCalls: count,
  iterations: count,
  cachedCalls: count,
});

describe("addUsage()", () => {
  test("is exact in any order, money included", () => {
    fc.assert(
      fc.property(fc.array(usage, { maxLength: 30 }), (parts) => {
        const sum = parts.reduce(addUsage, NO_USAGE);
        expect(parts.toReversed().reduce(addUsage, NO_USAGE)).toEqual(sum);
        const nanos = parts.reduce((total, { costUsd }) => total + toNanoUsd(costUsd ?? Number.NaN), 0);
        expect(sum.costUsd).toBe(Number.isNaN(nanos) ? null : toUsd(nanos));
        expect(modelUsage.safeParse(sum).success).toBe(true);
      }),
    );
  });

  test("is undone by subtractUsage(), except for an unknown cost", () => {
    fc.assert(
      fc.property(usage, usage, (a, b) => {
        const costUsd = b.costUsd === null ? null : a.costUsd;
        expect(subtractUsage(addUsage(a, b), b)).toEqual({ ...a, costUsd });
      }),
    );
  });

  test("has a cost only where all parts have one", () => {
    const paid = { ...NO_USAGE, inputTokens: 1, costUsd: 0.25 };
    expect(addUsage(paid, paid).costUsd).toBe(0.5);
    expect(addUsage(NO_USAGE, paid).costUsd).toBe(0.25);
    expect(addUsage({ ...paid, costUsd: null }, paid).costUsd).toBeNull();
  });
});

describe("toModelUsage()", () => {
  const reported = { inputTokens: 9, outputTokens: 3, cacheReadTokens: 1, cacheWriteTokens: 0, reasoningTokens: 2 };

  test("has the sum of tokens, and no cost that was not reported", () => {
    expect(toModelUsage(reported)).toEqual({ ...NO_USAGE, ...reported, tokens: 12, costUsd: null });
    expect(toModelUsage({ ...reported, costUsd: 0.5, estimatedTokens: 3 })).toMatchObject({
      costUsd: 0.5,
      estimatedTokens: 3,
    });
  });

  test("makes whole numbers of whatever a backend reports", () => {
    const odd = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Infinity, -1));
    fc.assert(
      fc.property(odd, odd, odd, (inputTokens, outputTokens, costUsd) => {
        const { tokens, costUsd: cost } = toModelUsage({ ...reported, inputTokens, outputTokens, costUsd });
        expect(Number.isInteger(tokens) && tokens >= 0).toBe(true);
        expect(cost === null || (Number.isFinite(cost) && cost >= 0)).toBe(true);
      }),
    );
  });
});

test("a reserved amount is never less than the same amount spent", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1_000, noNaN: true }), (usd) => {
      expect(toReservedNanoUsd(usd)).toBeGreaterThanOrEqual(toNanoUsd(usd));
      expect(toNanoUsd(toUsd(toReservedNanoUsd(usd)))).toBe(toReservedNanoUsd(usd));
    }),
  );
});
