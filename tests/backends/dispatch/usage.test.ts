// Usage that a provider reports wrongly, and answers that ignore their limit: limits have to hold all the same.

import { describe, expect, test } from "vitest";
import type { StreamPart } from "../../../src/backends/backend.ts";
import type { CallOutcome } from "../../../src/backends/dispatch/call.ts";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import type { ReportedUsage } from "../../../src/protocol/usage.ts";
import { aRequest } from "../describe-backend.ts";

const NOTHING: ReportedUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

function ask(parts: () => Iterable<StreamPart>, maxTokens?: number): Promise<CallOutcome> {
  async function* stream(): AsyncGenerator<StreamPart> {
    yield* parts();
  }
  const request = { ...aRequest(), ...(maxTokens !== undefined && { maxTokens }) };
  const options = { signal: new AbortController().signal, isLimitFirm: true };
  return new Dispatcher({ maxTries: 1 }).call({ name: "b", stream }, request, options);
}

async function usageOf(usage: ReportedUsage, text = "three words here"): Promise<CallOutcome["usage"]> {
  const { usage: counted } = await ask(() => [
    { type: "text-delta", text },
    { type: "end", finishReason: "length", usage },
  ]);
  return counted;
}

describe("usage that cannot be", () => {
  // The request of these tests has 12 tokens by estimate, the answer 6.
  test("a number of 0 counts as not reported where there was something", async () => {
    expect(await usageOf(NOTHING)).toMatchObject({ inputTokens: 12, outputTokens: 6, tokens: 18, estimatedTokens: 18 });
    expect(await usageOf({ ...NOTHING, inputTokens: 40 })).toMatchObject({ tokens: 46, estimatedTokens: 6 });
    expect(await usageOf({ ...NOTHING, outputTokens: 4 })).toMatchObject({ tokens: 16, estimatedTokens: 12 });
    expect(await usageOf({ ...NOTHING, inputTokens: 40 }, "")).toMatchObject({ tokens: 40, estimatedTokens: 0 });
    expect(await usageOf({ ...NOTHING, inputTokens: Number.NaN, outputTokens: -4 })).toMatchObject({ tokens: 18 });
  });

  test("a cost without tokens counts; one of nothing without tokens does not", async () => {
    expect(await usageOf({ ...NOTHING, costUsd: 5 })).toMatchObject({ costUsd: 5, tokens: 18 });
    expect(await usageOf({ ...NOTHING, costUsd: 0 })).toMatchObject({ costUsd: null });
    expect(await usageOf({ ...NOTHING, inputTokens: 4, outputTokens: 4, costUsd: 0 })).toMatchObject({ costUsd: 0 });
  });

  test("what no request can use has a bound, so that sums stay numbers", async () => {
    const absurd = { ...NOTHING, inputTokens: 1e300, outputTokens: 1e300, costUsd: 1e300 };
    expect(await usageOf(absurd)).toMatchObject({ tokens: 2e12, costUsd: 1e6 });
  });
});

describe("an answer that ignores its limit on tokens", () => {
  test.each([
    ["words", "word "],
    ["letters", "x".repeat(10_000)],
    ["spaces", " ".repeat(10_000)],
  ])("ends there, and counts as it is: %s", async (_, text) => {
    let isLeft = false;
    const outcome = await ask(function* () {
      try {
        yield { type: "text-delta", text: "It begins. " };
        for (;;) yield { type: "text-delta", text };
      } finally {
        isLeft = true;
      }
    }, 100);
    expect(outcome).toMatchObject({ ok: true, finishReason: "length" });
    expect(isLeft).toBe(true);
    const { outputTokens, estimatedTokens } = outcome.usage;
    expect(outputTokens).toBeGreaterThan(400);
    expect(estimatedTokens).toBe(12 + outputTokens);
  });

  test("a few more than the limit are no matter", async () => {
    const outcome = await ask(
      () => [
        { type: "text-delta", text: "word ".repeat(300) },
        { type: "end", finishReason: "stop", usage: { ...NOTHING, inputTokens: 9, outputTokens: 300 } },
      ],
      100,
    );
    expect(outcome).toMatchObject({ ok: true, finishReason: "stop", usage: { tokens: 309, estimatedTokens: 0 } });
  });
});
