import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BackendRequest } from "../../../src/backends/backend.ts";
import type { KnownFacts } from "../../../src/backends/models/model-facts.ts";
import type { RunId } from "../../../src/protocol/ids.ts";
import { toModelUsage } from "../../../src/protocol/usage.ts";
import type { LedgerLimits } from "../../../src/protocol/runs.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { ModelCalls, type ModelCall, type Reply } from "../../../src/rlm/calls/model-calls.ts";
import { EventEmitter } from "../../../src/rlm/events/event-emitter.ts";
import { Ledger } from "../../../src/rlm/ledger/ledger.ts";
import type { Models } from "../../../src/rlm/ports.ts";
import { strategies } from "../../../src/rlm/strategy/strategies.ts";

interface Answer {
  readonly text?: string;
  readonly outputTokens?: number;
  readonly finishReason?: "stop" | "length";
  readonly reasoning?: string;
  readonly error?: Error;
}

interface Scene {
  /** Read anew for each call. */
  readonly facts?: Partial<KnownFacts>;
  readonly limits?: LedgerLimits;
  readonly answer?: (request: BackendRequest, n: number) => Answer;
  readonly onSend?: () => void;
}

const never = new AbortController().signal;

function openScene({ facts = {}, limits = {}, answer = () => ({}), onSend }: Scene) {
  const sent: (number | undefined)[] = [];
  const models: Models = {
    defined: [],
    sharesBackend: () => true,
    settingsOf: () => ({}),
    scopeOf: () => "here",
    backendOf: () => "backend",
    priceOf: () => Promise.resolve({ inputUsd: 1, outputUsd: 1, cacheReadUsd: 1, cacheWriteUsd: 1 }),
    factsOf: () => Promise.resolve({ isHosted: true, ...facts }),
    async call(request, { onPart }) {
      sent.push(request.maxTokens);
      onSend?.();
      await new Promise(setImmediate); // whatever can be sent is sent by then
      const {
        text = "yes",
        outputTokens = 5,
        finishReason = "stop",
        reasoning = "",
        error,
      } = answer(request, sent.length - 1);
      const counts = { inputTokens: 10, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
      const totals = { usage: toModelUsage(counts), attempts: 1 };
      if (error !== undefined) return { ok: false, error, ...totals };
      await onPart?.({ type: "text-delta", text });
      return { ok: true, text, reasoning, finishReason, ...totals };
    },
  };
  const events: RunEvent[] = [];
  const emitter = new EventEmitter("r1" as RunId, Date.now, (event) => events.push(event));
  const calls = new ModelCalls({ models, cache: undefined, events: emitter, strategyOf: () => strategies.frontier });
  const ledger = new Ledger(limits, { now: () => 0 });
  const account = ledger.openRoot();
  let text = "";
  const ask = (call: Partial<ModelCall> = {}): Promise<Reply> =>
    calls.call({
      nodeId: "n0",
      account,
      purpose: "step",
      model: "m",
      messages: [{ role: "user", content: "How many?" }],
      step: 1,
      ordinal: 1,
      signal: never,
      onText: (more) => {
        text += more;
        return false;
      },
      onRestart: () => {
        text = "";
      },
      ...call,
    });
  return {
    sent,
    ask,
    account,
    ledger,
    waits: () => events.filter(({ type }) => type === "model-call-wait"),
    seen: () => text,
  };
}

describe("the limit on output", () => {
  test.each<[string, Scene, Partial<ModelCall>, number | undefined]>([
    ["is left out where nothing is limited and the provider is hosted", {}, {}, undefined],
    ["is what the caller asks for", {}, { maxTokens: 50 }, 50],
    ["is never more than the model can write", { facts: { maxOutputTokens: 8_192 } }, { maxTokens: 50_000 }, 8_192],
    ["is sent where tokens are limited", { limits: { tokens: 400_000 } }, {}, 16_000],
    ["is smaller for a query", { limits: { tokens: 400_000 } }, { purpose: "query" }, 8_000],
    ["is sent where costs are limited", { limits: { costUsd: 1 } }, {}, 16_000],
    ["is not sent for a limit on calls", { limits: { llmCalls: 10 } }, {}, undefined],
    ["is no more than what is left", { limits: { tokens: 5_000 } }, {}, 4_489],
    ["is sent to other servers, which may write without an end", { facts: { isHosted: false } }, {}, 16_000],
    ["leaves room for reasoning", { facts: { reasons: true, isHosted: false } }, {}, 32_000],
    ["fits into the window", { facts: { contextWindow: 8_192, isHosted: false } }, {}, 8_181],
    [
      "is not nothing where the window seems to be full",
      { facts: { contextWindow: 300, isHosted: false } },
      { messages: [{ role: "user", content: "x".repeat(1_000) }] },
      1_024,
    ],
  ])("%s", async (_, scene, call, expected) => {
    const { sent, ask } = openScene(scene);
    await ask(call);
    expect(sent).toEqual([expected]);
  });

  test("is sent under the grant of a child", async () => {
    const { sent, ask, account } = openScene({});
    await ask({ account: account.open("n1", { tokens: 20_000 }) });
    expect(sent).toEqual([16_000]);
  });

  test("holds so little that most of a batch of 64 is in flight at once under 400,000 tokens", async () => {
    let inFlight = 0;
    let most = 0;
    const { ask, sent } = openScene({
      limits: { tokens: 400_000 },
      answer: () => {
        most = Math.max(most, (inFlight -= 1) + 1);
        return {};
      },
      onSend: () => void (inFlight += 1),
    });
    await Promise.all(Array.from({ length: 64 }, () => ask({ purpose: "query" })));
    expect(sent).toHaveLength(64);
    expect(most).toBeGreaterThanOrEqual(40);
  });

  test("is larger once the model was seen to reason", async () => {
    const { sent, ask } = openScene({ limits: { tokens: 1e6 }, answer: () => ({ reasoning: "hm" }) });
    await ask();
    await ask();
    expect(sent).toEqual([16_000, 32_000]);
  });
});

describe("an answer that is cut off", () => {
  const cut = (outputTokens: number, text = "one, two"): Answer => ({ text, outputTokens, finishReason: "length" });

  test("of a step is asked for once more with four times the tokens, and later steps get as many at once", async () => {
    const { sent, ask, ledger, waits, seen } = openScene({
      limits: { tokens: 1e6 },
      answer: (_, n) => (n === 0 ? cut(16_000) : { text: "all", outputTokens: 20_000 }),
    });
    const reply = await ask();
    expect(reply).toMatchObject({ text: "all", finishReason: "stop", usage: { outputTokens: 36_000, llmCalls: 1 } });
    expect(seen()).toBe("all");
    expect(ledger.usage().total).toMatchObject({ outputTokens: 36_000, inputTokens: 20, llmCalls: 1 });
    expect(waits()).toMatchObject([
      { fault: "length", delayMs: 0, error: "the answer was cut off after 16000 tokens" },
    ]);
    await ask();
    expect(sent).toEqual([16_000, 64_000, 64_000]);
  });

  test("is not asked for again where that did not help once", async () => {
    const { sent, ask } = openScene({ limits: { tokens: 1e6 }, answer: ({ maxTokens = 0 }) => cut(maxTokens) });
    expect(await ask()).toMatchObject({ finishReason: "length", usage: { outputTokens: 80_000 } });
    await ask();
    expect(sent).toEqual([16_000, 64_000, 16_000]);
  });

  test("of a query is asked for again only where it has no text", async () => {
    const reasons = openScene({ limits: { tokens: 1e6 }, answer: (_, n) => (n === 0 ? cut(8_000, "") : {}) });
    expect(await reasons.ask({ purpose: "query" })).toMatchObject({ text: "yes" });
    expect(reasons.sent).toEqual([8_000, 32_000]);
    const partial = openScene({ limits: { tokens: 1e6 }, answer: () => cut(8_000) });
    expect(await partial.ask({ purpose: "query" })).toMatchObject({ text: "one, two", finishReason: "length" });
    expect(partial.sent).toEqual([8_000]);
  });

  test("by the small default of a provider is asked for again, and from then on the limit is sent", async () => {
    const { sent, ask } = openScene({ answer: ({ maxTokens }) => (maxTokens === undefined ? cut(1_024) : {}) });
    expect(await ask({ purpose: "query" })).toMatchObject({ text: "yes" });
    await ask({ purpose: "query" });
    expect(sent).toEqual([undefined, 8_000, 8_000]);
  });

  test.each<[string, Scene, Partial<ModelCall>]>([
    ["the caller set the limit", {}, { maxTokens: 100 }],
    ["the model cannot write more", { limits: { tokens: 1e6 }, facts: { maxOutputTokens: 16_000 } }, {}],
    ["the window has no more room", { limits: { tokens: 1e6 }, facts: { contextWindow: 20_000 } }, {}],
    ["the budget has no room for it", { limits: { tokens: 40_000 } }, {}],
    ["it is as long as such an answer may be", {}, {}],
  ])("stands where %s", async (_, scene, call) => {
    const { sent, ask, seen } = openScene({ ...scene, answer: ({ maxTokens = 60_000 }) => cut(maxTokens) });
    expect(await ask(call)).toMatchObject({ text: "one, two", finishReason: "length" });
    expect(sent).toHaveLength(1);
    expect(seen()).toBe("one, two");
  });

  test("stands where the provider refused to write more before", async () => {
    const facts: { isHosted: boolean; maxOutputTokens?: number } = { isHosted: false };
    const { sent, ask } = openScene({
      facts,
      answer: () => {
        facts.maxOutputTokens = 4_096; // as a backend learns
        return cut(4_096);
      },
    });
    expect(await ask()).toMatchObject({ finishReason: "length" });
    expect(sent).toEqual([16_000]);
  });

  test("stands where the second attempt fails, and both are paid for", async () => {
    const { ask, seen, ledger } = openScene({
      limits: { tokens: 1e6 },
      answer: (_, n) => (n === 0 ? cut(16_000) : { error: new Error("no connection"), outputTokens: 7 }),
    });
    expect(await ask()).toMatchObject({ text: "one, two", finishReason: "length", usage: { outputTokens: 16_007 } });
    expect(seen()).toBe("one, two");
    expect(ledger.usage().total.outputTokens).toBe(16_007);
  });
});

test("whatever models answer, no limit is exceeded", async () => {
  const answer = fc.record({
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    isCut: fc.boolean(),
    isEmpty: fc.boolean(),
  });
  const call = fc.record({
    purpose: fc.constantFrom("step" as const, "query" as const, "extract" as const),
    maxTokens: fc.option(fc.integer({ min: 1, max: 50_000 }), { nil: undefined }),
  });
  const limits = fc.oneof(
    fc.record({ tokens: fc.integer({ min: 300, max: 200_000 }) }),
    fc.record({ costUsd: fc.integer({ min: 1, max: 200 }).map((mills) => mills / 1_000) }),
  );
  await fc.assert(
    fc.asyncProperty(
      limits,
      fc.array(answer, { minLength: 1 }),
      fc.array(call, { maxLength: 20 }),
      async (own, answers, calls) => {
        const { ask, ledger } = openScene({
          limits: own,
          answer: ({ maxTokens = Infinity }, n) => {
            const { share, isCut, isEmpty } = answers[n % answers.length] ?? { share: 0, isCut: false, isEmpty: false };
            const outputTokens = isCut ? maxTokens : Math.floor(maxTokens * share);
            return { outputTokens, text: isEmpty ? "" : "yes", finishReason: isCut ? "length" : "stop" };
          },
        });
        await Promise.allSettled(calls.map((one) => ask(one)));
        const { tokens, costUsd } = ledger.usage().total;
        if ("tokens" in own) expect(tokens).toBeLessThanOrEqual(own.tokens);
        else expect(costUsd).toBeLessThanOrEqual(own.costUsd);
      },
    ),
  );
});
