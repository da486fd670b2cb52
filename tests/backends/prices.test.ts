import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { costOf, outputForUsd, priceOf, worstCostUsd } from "../../src/backends/prices.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";

describe("priceOf()", () => {
  test("knows a dated model for what it is, not for one whose name begins alike", async () => {
    const mini = await priceOf("openai", "gpt-4o-mini-2024-07-18");
    expect(mini).toEqual({ inputUsd: 0.15, outputUsd: 0.6, cacheReadUsd: 0.075, cacheWriteUsd: 0.15 });
    expect(mini).toEqual(await priceOf("openai", "gpt-4o-mini"));
    expect((await priceOf("openai", "gpt-4o"))?.inputUsd).toBe(2.5);
  });

  test("has the prices of Anthropic's cache", async () => {
    expect(await priceOf("anthropic", "claude-opus-4-8")).toEqual({
      inputUsd: 5,
      outputUsd: 25,
      cacheReadUsd: 0.5,
      cacheWriteUsd: 6.25,
    });
  });

  test.each([
    ["openai", "gpt-4o-mini-banana"],
    ["openai", "claude-opus-4-8"],
    ["anthropic", "claude-nonsense"],
    ["openai-compatible", "gpt-4o"],
    ["scripted", "gpt-4o"],
    ["openai", "toString"],
  ])("does not know a price of %s for %s", async (backend, model) => {
    expect(await priceOf(backend, model)).toBeUndefined();
  });

  test("knows by the address whose prices hold", async () => {
    const options = { baseUrl: "https://openrouter.ai/api/v1" };
    expect((await priceOf("openai-compatible", "openai/gpt-4o-mini", options))?.inputUsd).toBe(0.15);
    expect(await priceOf("openai-compatible", "llama3", { baseUrl: "http://localhost:11434/v1" })).toBeUndefined();
  });

  test("takes what the configuration says first", async () => {
    const price = { inputUsd: 1, outputUsd: 2, cacheReadUsd: 3, cacheWriteUsd: 4 };
    const prices = { "gpt-4o": price, "scripted/demo.json": { ...price, inputUsd: 0 } };
    expect(await priceOf("openai", "gpt-4o", { prices })).toEqual(price);
    expect((await priceOf("scripted", "demo.json", { prices }))?.inputUsd).toBe(0);
    expect(await priceOf("openai", "constructor", { prices })).toBeUndefined();
  });
});

describe("costOf()", () => {
  const price = { inputUsd: 10, outputUsd: 100, cacheReadUsd: 1, cacheWriteUsd: 20 };
  const unpriced = { ...NO_USAGE, costUsd: null };

  test("prices what was cached apart from the rest of the input", () => {
    const usage = {
      inputTokens: 1000,
      outputTokens: 10,
      cacheReadTokens: 600,
      cacheWriteTokens: 100,
      reasoningTokens: 5,
    };
    expect(costOf(usage, price)).toBeCloseTo((300 * 10 + 600 * 1 + 100 * 20 + 10 * 100) / 1e6, 12);
  });

  test("uses the cost that the provider reports", () => {
    expect(costOf({ ...NO_USAGE, inputTokens: 1000, costUsd: 0.5 }, price)).toBe(0.5);
  });

  test("is never below zero, whatever the cache is said to be", () => {
    expect(costOf({ ...unpriced, inputTokens: 10, cacheReadTokens: 100 }, price)).toBeGreaterThan(0);
  });

  test("has another price for the whole of a long call where the model has", async () => {
    const long = await priceOf("anthropic", "claude-sonnet-4-5");
    if (long === undefined) throw new Error("the table has no claude-sonnet-4-5");
    const cost = (inputTokens: number): number => costOf({ ...unpriced, inputTokens, outputTokens: 1000 }, long);
    expect(cost(200_000)).toBeCloseTo(0.6 + 0.015, 12);
    expect(cost(200_001)).toBeCloseTo((200_001 * 6 + 1000 * 22.5) / 1e6, 12);
  });
});

describe("worstCostUsd()", () => {
  const price = fc.record({
    inputUsd: fc.double({ min: 0, max: 100, noNaN: true }),
    outputUsd: fc.double({ min: 0.001, max: 500, noNaN: true }),
    cacheReadUsd: fc.double({ min: 0, max: 100, noNaN: true }),
    cacheWriteUsd: fc.double({ min: 0, max: 100, noNaN: true }),
  });

  test("is never below what a call with at most so many tokens costs, however it used the cache", () => {
    fc.assert(
      fc.property(
        price,
        fc.nat({ max: 100_000 }),
        fc.nat({ max: 50_000 }),
        fc.nat(),
        fc.nat(),
        (of, input, output, a, b) => {
          const read = a % (input + 1);
          const write = b % (input - read + 1);
          const cost =
            (read * of.cacheReadUsd +
              write * of.cacheWriteUsd +
              (input - read - write) * of.inputUsd +
              output * of.outputUsd) /
            1e6;
          expect(worstCostUsd(of, input, output)).toBeGreaterThanOrEqual(cost - 1e-9);
        },
      ),
    );
  });

  test("is met by the output that outputForUsd() allows", () => {
    fc.assert(
      fc.property(price, fc.nat({ max: 100_000 }), fc.double({ min: 0, max: 10, noNaN: true }), (of, input, usd) => {
        const output = outputForUsd(of, input, usd);
        if (output < 0) expect(worstCostUsd(of, input, 0)).toBeGreaterThan(usd - 1e-9);
        else expect(worstCostUsd(of, input, output)).toBeLessThanOrEqual(usd + 1e-9);
      }),
    );
    expect(outputForUsd({ inputUsd: 0, outputUsd: 0, cacheReadUsd: 0, cacheWriteUsd: 0 }, 5, 0)).toBe(Infinity);
  });
});
