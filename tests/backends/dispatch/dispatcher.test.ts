import { describe, expect, test } from "vitest";
import type { Backend, BackendPart, BackendRequest, StreamPart } from "../../../src/backends/backend.ts";
import { NO_USAGE, type ModelUsage } from "../../../src/protocol/usage.ts";
import type { CallPart, CallPause } from "../../../src/backends/dispatch/call.ts";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { ScriptedBackend } from "../../../src/backends/scripted/scripted.ts";
import type { ScriptedReply } from "../../../src/backends/scripted/script.ts";
import { aRequest, failing, rateLimited } from "../describe-backend.ts";
import { ManualClock, settle } from "./manual-clock.ts";

const never = new AbortController().signal;

describe("a call", () => {
  test("has the text, the reasoning, the finish reason and the usage", async () => {
    const backend = new ScriptedBackend([{ text: "four", reasoning: "2 + 2", usage: { inputTokens: 9 } }]);
    expect(await new Dispatcher().call(backend, aRequest(), { signal: never })).toEqual({
      ok: true,
      text: "four",
      reasoning: "2 + 2",
      finishReason: "stop",
      usage: { ...NO_USAGE, inputTokens: 9, outputTokens: 3, tokens: 12, reasoningTokens: 2, costUsd: null },
      attempts: 1,
    });
  });

  test("is cut by its listener, which closes the request; usage is estimated", async () => {
    const backend = new EndlessBackend();
    const outcome = await new Dispatcher().call(backend, aRequest(), {
      signal: never,
      onPart: () => (backend.sent >= 3 ? "cut" : undefined),
    });
    expect(outcome).toMatchObject({ ok: true, text: "onceonceonce", finishReason: "cut", attempts: 1 });
    // Four times three bytes and what was on its way; the message has ten, and its frame.
    expect(outcome.usage).toMatchObject({ inputTokens: 12, outputTokens: 6 + 32, estimatedTokens: 50 });
    await settle();
    expect(backend.isLeft).toBe(true);
  });

  test("that is cut counts the input that the provider reported", async () => {
    const backend = new EndlessBackend({ inputTokens: 777, cacheReadTokens: 700, cacheWriteTokens: 7 });
    const outcome = await new Dispatcher().call(backend, aRequest(), {
      signal: never,
      onPart: async () => "cut" as const,
    });
    expect(outcome.usage).toMatchObject({
      inputTokens: 777,
      cacheReadTokens: 700,
      cacheWriteTokens: 7,
      outputTokens: 3 + 32,
      estimatedTokens: 35,
    });
  });

  test("that is cut counts hidden reasoning: as reported, as seen from the model before, or all that was allowed", async () => {
    const usageOf = async (maxTokens: number, hiddenTokens = 0): Promise<ModelUsage> => {
      const stream = async function* (): AsyncGenerator<StreamPart> {
        yield { type: "hidden-reasoning", maxTokens };
        for (;;) yield { type: "text-delta", text: "abc" };
      };
      const backend = { name: "thinker", stream };
      const estimates = { inputTokens: 10, tokensOf: (text: string) => text.length, hiddenTokens };
      const options = { signal: never, estimates, onPart: () => "cut" as const };
      return (await new Dispatcher().call(backend, aRequest({ maxTokens: 1000 }), options)).usage;
    };
    expect(await usageOf(400)).toMatchObject({
      outputTokens: 6 + 400 + 32,
      reasoningTokens: 400,
      estimatedTokens: 448,
    });
    expect(await usageOf(0, 500)).toMatchObject({ outputTokens: 6 + 500 + 32, reasoningTokens: 500 });
    expect(await usageOf(Infinity)).toMatchObject({ outputTokens: 1000, reasoningTokens: 994 });
  });

  test("estimates usage that the provider does not report", async () => {
    const backend = new ScriptedBackend([{ text: "12345678", usage: null }]);
    const outcome = await new Dispatcher().call(backend, aRequest(), { signal: never });
    expect(outcome.usage).toMatchObject({ inputTokens: 12, outputTokens: 3, estimatedTokens: 15 });
  });

  test("ends with what its listener throws", async () => {
    const error = new Error("the listener's");
    const backend = new EndlessBackend();
    const dispatcher = new Dispatcher();
    const onPart = (): void => {
      throw error;
    };
    expect(await dispatcher.call(backend, aRequest(), { signal: never, onPart })).toMatchObject({ ok: false, error });
    expect(dispatcher.inFlight).toBe(0);
  });

  test("has its own signal, aborted when it is left, unless the backend shares the caller's", async () => {
    const signals: AbortSignal[] = [];
    const answer = async function* (signal: AbortSignal): AsyncGenerator<BackendPart> {
      signals.push(signal);
      yield { type: "text-delta", text: "once" };
    };
    const stream: Backend["stream"] = (_, { signal }) => answer(signal);
    const options = { signal: new AbortController().signal, onPart: () => "cut" as const };
    await new Dispatcher().call({ name: "own", stream }, aRequest(), options);
    await new Dispatcher().call({ name: "shares", sharesSignals: true, stream }, aRequest(), options);
    expect(signals.map((signal) => signal === options.signal)).toEqual([false, true]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test("leaves no timer and no slot after a thousand in a row", async () => {
    const dispatcher = new Dispatcher({ clock: new ManualClock() });
    const backend = new ScriptedBackend(() => "an answer of no great length");
    for (let n = 0; n < 1000; n++) await dispatcher.call(backend, aRequest(), { signal: never });
    expect([backend.calls, dispatcher.inFlight, dispatcher.waiting]).toEqual([1000, 0, 0]);
  });
});

describe("retries", () => {
  test("have delays that double, with jitter between half and all", async () => {
    const low = await delaysOf({ random: () => 0 });
    const high = await delaysOf({ random: () => 1 });
    expect([low, high]).toEqual([
      [250, 500, 1000],
      [500, 1000, 2000],
    ]);
  });

  test("end after the fourth attempt by default, with the last error", async () => {
    const { outcome, backend } = await run([failing]);
    expect(outcome).toMatchObject({ ok: false, attempts: 4, error: { fault: "server" } });
    expect(backend.calls).toBe(4);
  });

  test("end when their delays would add up to more than allowed", async () => {
    const { outcome } = await run([{ error: { fault: "server", retryable: true, retryAfterMs: 50_000 } }], {
      maxWaitMs: 120_000,
    });
    expect(outcome).toMatchObject({ ok: false, attempts: 3 });
  });

  test.each(["authentication", "bad-request", "context-too-long", "configuration"] as const)(
    "are not made for %s",
    async (fault) => {
      const { outcome } = await run([{ error: { fault } }]);
      expect(outcome).toMatchObject({ ok: false, attempts: 1, error: { fault }, usage: { inputTokens: 0 } });
    },
  );

  test("are made for an empty answer, which counts", async () => {
    const { outcome } = await run([{ usage: { inputTokens: 100, outputTokens: 1 } }, { text: " \n" }, "there"]);
    expect(outcome).toMatchObject({ ok: true, text: "there", attempts: 3 });
    expect(outcome.usage).toMatchObject({ inputTokens: 100 + 3 + 3, outputTokens: 1 + 1 + 2 });
  });

  test.each(["length", "refusal"] as const)(
    "are not made for an empty answer that ended by %s",
    async (finishReason) => {
      const { outcome } = await run([{ finishReason }]);
      expect(outcome).toMatchObject({ ok: true, text: "", finishReason, attempts: 1 });
    },
  );

  test("make the listener discard its text, which counts as an estimate", async () => {
    const parts: CallPart[] = [];
    const broken = { text: "half an an", error: { fault: "connection", retryable: true } } as const;
    const { outcome } = await run([broken, "whole"], {}, (part) => void parts.push(part));
    expect(parts.map((part) => (part.type === "text-delta" ? part.text : part.type))).toEqual([
      "half an an",
      "retry",
      "whole",
    ]);
    expect(outcome).toMatchObject({ ok: true, text: "whole", attempts: 2 });
    expect(outcome.usage).toMatchObject({ inputTokens: 12 + 3, outputTokens: 4 + 2, estimatedTokens: 16 });
  });

  test("of rejected requests count nothing", async () => {
    const { outcome } = await run([rateLimited, failing, "text"]);
    expect(outcome).toMatchObject({ attempts: 3, usage: { inputTokens: 3, outputTokens: 1 } });
  });

  test.each<[string, ScriptedReply]>([
    ["the connection breaks", { error: { fault: "connection", retryable: true } }],
    ["the provider fails", { error: { fault: "server", status: 529, retryable: true } }],
    ["an event cannot be read", { error: { fault: "malformed", retryable: true } }],
  ])("of a request that was accepted count its input, though no text came: %s", async (_, broken) => {
    const { outcome } = await run([{ ...(broken as object), rateLimits: {} }, "text"]);
    // The estimate of the input, which the provider did not report, and the second attempt.
    expect(outcome).toMatchObject({ ok: true, attempts: 2, usage: { inputTokens: 12 + 3, estimatedTokens: 12 } });
  });

  test("stop at an abort while they wait, with the signal's reason", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher({ clock });
    const controller = new AbortController();
    const call = dispatcher.call(new ScriptedBackend(() => failing), aRequest(), { signal: controller.signal });
    await settle();
    expect([clock.due.length, dispatcher.inFlight]).toEqual([1, 0]);
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await call).toMatchObject({ ok: false, error: reason, attempts: 1 });
    expect(clock.due).toEqual([]);
  });
});

describe("Retry-After", () => {
  test("holds back all calls of the model until then, and no other model", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher({ clock, random: () => 0 });
    const asked: string[] = [];
    let isFirst = true;
    const backend = new ScriptedBackend((request) => {
      asked.push(`${request.model} at ${clock.now()}`);
      if (request.model !== "busy" || !isFirst) return "answer";
      isFirst = false;
      return rateLimited;
    });
    const call = (model: string) => dispatcher.call(backend, aRequest({ model }), { signal: never });
    const first = call("busy");
    await settle();
    const others = [call("busy"), call("busy"), call("free")];
    await clock.goTo(4999);
    expect([asked, dispatcher.waiting, dispatcher.inFlight]).toEqual([["busy at 0", "free at 0"], 3, 0]);
    await clock.goTo(5000);
    expect((await Promise.all([first, ...others])).map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(asked.slice(2)).toEqual(["busy at 5000", "busy at 5000", "busy at 5000"]);
    expect(clock.due).toEqual([]);
  });

  test("is reported by calls that begin meanwhile, and by no other", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher({ clock, random: () => 0 });
    const backend = new ScriptedBackend([rateLimited, "answer"]);
    const heard: unknown[] = [];
    const call = (who: string, model = "busy") => {
      const onPart = (part: CallPart): void => {
        if (part.type === "retry") heard.push([who, part.type, part.delayMs, part.attempts]);
      };
      const onPause = ({ delayMs, attempts }: CallPause): void => void heard.push([who, "pause", delayMs, attempts]);
      return dispatcher.call(backend, aRequest({ model }), { signal: never, onPart, onPause });
    };
    const first = call("first");
    await clock.goTo(2000);
    const others = [call("second"), call("third", "free")];
    await clock.goTo(5000);
    await Promise.all([first, ...others, call("fourth")]);
    expect(heard).toEqual([
      ["first", "retry", 5000, 1],
      ["second", "pause", 3000, 0],
    ]);
  });

  test("is not reported again by the call that has waited for it, though timers end a little early", async () => {
    const clock = new ManualClock();
    const early = {
      now: () => clock.now(),
      after: (ms: number, end: () => void) => clock.after(Math.max(0.5, ms - 0.9), end),
    };
    const dispatcher = new Dispatcher({ clock: early, random: () => 0 });
    const heard: string[] = [];
    const outcome = dispatcher.call(new ScriptedBackend([rateLimited, "answer"]), aRequest(), {
      signal: never,
      onPart: ({ type }) => void heard.push(type),
    });
    await clock.goTo(6000);
    expect(await outcome).toMatchObject({ ok: true, attempts: 2 });
    expect(heard.filter((type) => type === "retry" || type === "pause")).toEqual(["retry"]);
  });

  test("that is longer than a call may wait fails it and the next ones at once", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher({ clock });
    const slow = { error: { fault: "rate-limit", status: 429, retryable: true, retryAfterMs: 3_600_000 } } as const;
    const backend = new ScriptedBackend([slow, "answer"]);
    const first = await dispatcher.call(backend, aRequest(), { signal: never });
    const second = await dispatcher.call(backend, aRequest(), { signal: never });
    expect([first, second]).toMatchObject([
      { ok: false, error: { fault: "rate-limit", retryAfterMs: 3_600_000 }, attempts: 1 },
      { ok: false, error: { fault: "rate-limit", retryAfterMs: 3_600_000 }, attempts: 0 },
    ]);
    await clock.goTo(3_600_000);
    expect(await dispatcher.call(backend, aRequest(), { signal: never })).toMatchObject({ ok: true, text: "answer" });
  });
});

describe("slots", () => {
  test("are acquired in the order of the calls", async () => {
    const order: string[] = [];
    const dispatcher = new Dispatcher({ maxConcurrency: 1 });
    const backend = new ScriptedBackend(async ({ model }) => {
      order.push(model);
      await settle();
      return "a";
    });
    const models = ["a", "b", "a", "c", "b"];
    await Promise.all(models.map((model) => dispatcher.call(backend, aRequest({ model }), { signal: never })));
    expect(order).toEqual(models);
  });

  test("of a full model do not hold up another model", async () => {
    const dispatcher = new Dispatcher();
    const backend = new HangingBackend();
    const controller = new AbortController();
    const call = (model: string) => dispatcher.call(backend, aRequest({ model }), { signal: controller.signal });
    const calls = [...Array.from({ length: 40 }, () => call("a")), call("b")];
    await settle();
    expect([backend.models.at(-1), dispatcher.inFlight, dispatcher.waiting]).toEqual(["b", 33, 8]);
    controller.abort();
    await Promise.all(calls);
  });

  test("are free at once after an abort, even where the backend ignores it", async () => {
    const dispatcher = new Dispatcher({ maxConcurrency: 1 });
    const controller = new AbortController();
    const stuck = dispatcher.call(new HangingBackend(), aRequest(), { signal: controller.signal });
    const next = dispatcher.call(new ScriptedBackend(["answer"]), aRequest(), { signal: never });
    await settle();
    expect([dispatcher.inFlight, dispatcher.waiting]).toEqual([1, 1]);
    controller.abort("stop");
    expect(await stuck).toMatchObject({ ok: false, error: "stop", attempts: 1 });
    expect(await next).toMatchObject({ ok: true, text: "answer" });
  });

  test("are not taken by a call that is aborted in the queue", async () => {
    const dispatcher = new Dispatcher({ maxConcurrency: 1 });
    const first = new AbortController();
    const second = new AbortController();
    const backend = new HangingBackend();
    const calls = [first, second].map(({ signal }) => dispatcher.call(backend, aRequest(), { signal }));
    await settle();
    second.abort("second");
    expect(await calls[1]).toMatchObject({ ok: false, error: "second", attempts: 0, usage: { inputTokens: 0 } });
    first.abort("first");
    await calls[0];
    expect([backend.models.length, dispatcher.inFlight, dispatcher.waiting]).toEqual([1, 0, 0]);
  });

  test("refuse invalid limits", () => {
    expect(() => new Dispatcher({ maxConcurrency: 0 })).toThrow(RangeError);
    expect(() => new Dispatcher({ maxTries: 1.5 })).toThrow(RangeError);
  });
});

async function run(
  replies: readonly ScriptedReply[],
  options: ConstructorParameters<typeof Dispatcher>[0] = {},
  onPart?: (part: CallPart) => void,
) {
  const clock = new ManualClock();
  const dispatcher = new Dispatcher({ clock, random: () => 0.5, ...options });
  const backend = new ScriptedBackend((_, n) => replies[Math.min(n, replies.length - 1)] ?? "");
  const call = dispatcher.call(backend, aRequest(), { signal: never, ...(onPart && { onPart }) });
  await clock.goTo(1_000_000);
  return { outcome: await call, backend };
}

async function delaysOf(options: { random: () => number }): Promise<number[]> {
  const delays: number[] = [];
  await run([failing], options, (part) => void (part.type === "retry" && delays.push(part.delayMs)));
  return delays;
}

/** Talks until somebody leaves. */
class EndlessBackend implements Backend {
  readonly name = "endless";
  readonly #usage;
  sent = 0;
  isLeft = false;
  constructor(usage?: { inputTokens: number; cacheReadTokens: number; cacheWriteTokens: number }) {
    this.#usage = usage;
  }
  async *stream() {
    try {
      if (this.#usage !== undefined) yield { type: "input-usage" as const, usage: this.#usage };
      for (;;) {
        this.sent++;
        yield { type: "text-delta" as const, text: "once" };
      }
    } finally {
      this.isLeft = true;
    }
  }
}

/** Never answers, and hears no signal. */
class HangingBackend implements Backend {
  readonly name = "hanging";
  readonly models: string[] = [];
  async *stream({ model }: BackendRequest): AsyncGenerator<BackendPart> {
    this.models.push(model);
    await new Promise(() => {});
    yield { type: "text-delta", text: "never" };
  }
}
