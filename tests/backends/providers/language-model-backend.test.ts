import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAIv2 } from "ai-sdk-openai-v2";
import { describe, expect, test } from "vitest";
import type { BackendRequest, StreamPart } from "../../../src/backends/backend.ts";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { checkLanguageModel, type LanguageModelCall } from "../../../src/backends/providers/language-model.ts";
import { LanguageModelBackend } from "../../../src/backends/providers/language-model-backend.ts";
import { BackendConnectionError } from "../../../src/errors.ts";
import type { LanguageModel } from "../../internals.ts";
import { openMockProvider, type MockReply } from "../../fixtures/mock-provider.ts";
import { createLanguageModel } from "../../fixtures/language-model.ts";
import { aRequest } from "../describe-backend.ts";

const never = new AbortController().signal;

describe("a model object", () => {
  test("of version 2 has flat usage and a string as finish reason", async () => {
    const usage = { inputTokens: 9, outputTokens: 4, totalTokens: 13, cachedInputTokens: 5, reasoningTokens: 1 };
    const model = createLanguageModel("v2", () => [text("hi"), { type: "finish", finishReason: "length", usage }]);
    expect(await partsOf(model)).toEqual([
      { type: "response-start" },
      { type: "text-delta", text: "hi" },
      {
        type: "end",
        finishReason: "length",
        usage: { inputTokens: 9, outputTokens: 4, cacheReadTokens: 5, cacheWriteTokens: 0, reasoningTokens: 1 },
      },
    ]);
  });

  test.each(["v3", "v4"] as const)("of version %s has nested usage and an object as finish reason", async (version) => {
    const usage = {
      inputTokens: { total: 9, noCache: 2, cacheRead: 5, cacheWrite: 2 },
      outputTokens: { total: 4, text: 3, reasoning: 1 },
    };
    const finishReason = { unified: "content-filter", raw: "SAFETY" };
    const model = createLanguageModel(version, () => [
      { type: "stream-start", warnings: [] },
      { type: "reasoning-delta", id: "1", delta: "hm" },
      text("no"),
      { type: "finish", finishReason, usage },
    ]);
    expect(await partsOf(model)).toEqual([
      { type: "response-start" },
      { type: "reasoning-delta", text: "hm" },
      { type: "text-delta", text: "no" },
      {
        type: "end",
        finishReason: "refusal",
        usage: { inputTokens: 9, outputTokens: 4, cacheReadTokens: 5, cacheWriteTokens: 2, reasoningTokens: 1 },
      },
    ]);
  });

  test("that shows the headers of its response has its rate limits", async () => {
    const model = createLanguageModel("v3", () => [text("a"), finish]);
    const headers = { "X-RateLimit-Remaining-Requests": "3", "x-ratelimit-reset-requests": "12s" };
    const doStream: LanguageModel["doStream"] = async (call) => ({
      ...(await model.doStream(call)),
      response: { headers },
    });
    expect((await partsOf({ ...model, doStream }))[0]).toEqual({
      type: "response-start",
      rateLimits: { requests: { remaining: 3, resetMs: 12_000, refill: "gradual" } },
    });
  });

  test("gets the whole request", async () => {
    const calls: LanguageModelCall[] = [];
    const model = createLanguageModel("v3", (call) => [...(calls.push(call), []), text("a"), finish]);
    const messages = [
      { role: "system", content: "rules" },
      { role: "user", content: "question" },
    ] as const;
    const schema = { type: "object" };
    const extraBody = { serviceTier: "flex" };
    const settings = { maxTokens: 7, temperature: 0.5, seed: 3, schema, reasoningEffort: "low", extraBody };
    await partsOf(model, { messages, ...settings });
    const { abortSignal, ...call } = calls[0] as LanguageModelCall;
    expect(abortSignal?.aborted).toBe(false);
    expect(call).toEqual({
      prompt: [
        { role: "system", content: "rules" },
        { role: "user", content: [{ type: "text", text: "question" }] },
      ],
      maxOutputTokens: 7,
      temperature: 0.5,
      seed: 3,
      responseFormat: { type: "json", schema },
      providerOptions: { mock: { reasoningEffort: "low", serviceTier: "flex" } },
    });
  });

  const claude = { anthropic: { cacheControl: { type: "ephemeral" } } };
  const bedrock = { bedrock: { cachePoint: { type: "default" } } };

  test.each<[string, string, object | undefined, object]>([
    ["anthropic.messages", "claude-sonnet-4-5", claude, { anthropic: { effort: "low" } }],
    ["googleVertex.anthropic.messages", "claude-sonnet-4-5@20250929", claude, { anthropic: { effort: "low" } }],
    ["bedrock.anthropic.messages", "anthropic.claude-sonnet-4-5", claude, { anthropic: { effort: "low" } }],
    [
      "amazon-bedrock",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      bedrock,
      { bedrock: { reasoningConfig: { maxReasoningEffort: "low" } } },
    ],
    [
      "amazon-bedrock",
      "amazon.nova-pro-v1:0",
      bedrock,
      { bedrock: { reasoningConfig: { maxReasoningEffort: "low" } } },
    ],
    [
      "amazon-bedrock",
      "anthropic.claude-3-haiku-20240307-v1:0",
      undefined,
      { bedrock: { reasoningConfig: { maxReasoningEffort: "low" } } },
    ],
    [
      "google.generative-ai",
      "gemini-3-pro-preview",
      undefined,
      { google: { thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" } } },
    ],
    [
      "google.vertex.chat",
      "gemini-2.5-pro",
      undefined,
      { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } },
    ],
    ["azure.responses", "my-deployment", undefined, { openai: { reasoningEffort: "low" } }],
    ["azure-openai.chat", "my-deployment", undefined, { openai: { reasoningEffort: "low" } }],
    [
      "openrouter.chat",
      "anthropic/claude-sonnet-4.5",
      { openrouter: { cacheControl: { type: "ephemeral" } } },
      { openrouter: { reasoning: { effort: "low" } } },
    ],
    ["mistral.chat", "magistral-medium", undefined, { mistral: { reasoningEffort: "low" } }],
  ])("of %s (%s) gets options and cache marks under the names of its package", async (provider, modelId, mark, own) => {
    const calls: LanguageModelCall[] = [];
    const reply = (call: LanguageModelCall) => [...(calls.push(call), []), text("a"), finish];
    const model = createLanguageModel("v3", reply, { provider, modelId });
    const messages = [
      { role: "system", content: "rules" },
      { role: "user", content: "question" },
      { role: "assistant", content: "code" },
    ] as const;
    await partsOf(model, { messages, stableMessages: 2, reasoningEffort: "low" });
    expect(calls[0]?.prompt.map(({ providerOptions }) => providerOptions)).toEqual([mark, mark, undefined]);
    expect(calls[0]?.providerOptions).toEqual(own);
  });

  test("of version 2 for Claude counts cached input apart, which is added", async () => {
    const usage = { inputTokens: 9, outputTokens: 4, cachedInputTokens: 100 };
    const written = {
      "anthropic.messages": { anthropic: { cacheCreationInputTokens: 20 } },
      "amazon-bedrock": { bedrock: { usage: { cacheWriteInputTokens: 20 } } },
    };
    for (const [provider, providerMetadata] of Object.entries(written)) {
      const parts = [text("a"), { type: "finish", finishReason: "stop", usage, providerMetadata }];
      const model = createLanguageModel("v2", () => parts, { provider });
      expect((await partsOf(model)).at(-1)).toMatchObject({
        usage: { inputTokens: 129, cacheReadTokens: 100, cacheWriteTokens: 20 },
      });
    }
  });

  test.each<[string, unknown, object]>([
    [
      "a rate limit",
      apiCallError({ statusCode: 429, responseHeaders: { "Retry-After": "3" }, isRetryable: true }),
      { fault: "rate-limit", status: 429, retryable: true, retryAfterMs: 3000 },
    ],
    [
      "a server error that is not retryable",
      apiCallError({ statusCode: 503, isRetryable: false }),
      { fault: "server", status: 503, retryable: false },
    ],
    [
      "a key that is refused, with the key in the body",
      apiCallError({ statusCode: 401, responseBody: '{"error":{"message":"no such key: sk-abcdef123456"}}' }),
      { fault: "authentication", message: expect.stringMatching(/no such key: (?!.*abcdef)/) },
    ],
    ["no connection", new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } }), { fault: "connection" }],
    ["a missing key", named("AI_LoadAPIKeyError"), { fault: "configuration", retryable: false }],
    ["no error at all", undefined, { fault: "connection", retryable: true }],
  ])("that throws %s has a BackendConnectionError", async (_, thrown, expected) => {
    const model = createLanguageModel("v3", () => {
      throw thrown;
    });
    expect(await faultOf(model)).toMatchObject({ backend: "mock.chat", ...expected });
  });

  test.each<[string, unknown[], object]>([
    [
      "an error in the stream",
      [{ type: "error", error: { type: "overloaded_error" } }],
      { fault: "server", status: 529 },
    ],
    [
      "an event that was not validated",
      [{ type: "error", error: named("AI_TypeValidationError") }],
      { fault: "malformed" },
    ],
    ["text that is no string", [{ type: "text-delta", delta: 5 }], { fault: "malformed" }],
    ["no finish", [text("a")], { fault: "connection" }],
    ["a finish without reason and usage", [{ ...finish_("other"), usage: {} }], { fault: "connection" }],
    ["the finish reason 'error'", [finish_("error")], { fault: "server" }],
  ])("that yields %s has a retryable BackendConnectionError", async (_, parts, expected) => {
    expect(await faultOf(createLanguageModel("v3", () => parts))).toMatchObject({ retryable: true, ...expected });
  });

  test("that ignores its signal is left at once", async () => {
    const model = createLanguageModel("v3", () => new Promise<never>(() => {}));
    const controller = new AbortController();
    const reason = new Error("enough");
    const reading = collect(new LanguageModelBackend(model), {}, controller.signal);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  test("has its signal aborted when the reader leaves", async () => {
    let signal: AbortSignal | undefined;
    const model = createLanguageModel("v3", ({ abortSignal }) => {
      signal = abortSignal;
      return [text("a"), text("b"), finish];
    });
    for await (const _ of new LanguageModelBackend(model).stream(aRequest(), { signal: never })) break;
    expect(signal?.aborted).toBe(true);
  });

  test("that yields parts without end and without text does not starve the process", async () => {
    const model = createLanguageModel("v3", () => []);
    const pull = (controller: ReadableStreamDefaultController): void => controller.enqueue({ type: "reasoning-start" });
    const endless: LanguageModel = { ...model, doStream: async () => ({ stream: new ReadableStream({ pull }) }) };
    const controller = new AbortController();
    const reading = collect(new LanguageModelBackend(endless), {}, controller.signal);
    setTimeout(() => controller.abort(new Error("enough")), 1);
    await expect(reading).rejects.toThrow("enough");
  });

  test("whose stream cannot be cancelled has given its answer all the same", async () => {
    const parts = [text("a"), finish];
    const reader = {
      read: async () => ({ done: parts.length === 0, value: parts.shift() }),
      cancel: () => {
        throw new Error("no");
      },
    };
    const model = createLanguageModel("v3", () => []);
    const stream = { getReader: () => reader };
    expect(await partsOf({ ...model, doStream: async () => ({ stream }) })).toHaveLength(3);
  });

  test.each(["AIzaSyA1234567890abcdefghijklmnopqrstuv", "xai-1234567890abcdef", "gsk_1234567890abcdef"])(
    "whose error repeats the key %s has it redacted",
    async (key) => {
      const model = createLanguageModel("v3", () => {
        throw Object.assign(new Error(`the key ${key} is wrong, ${key}`), { statusCode: 401 });
      });
      expect((await faultOf(model)).message).not.toContain(key.slice(6));
    },
  );

  test("that is silent for too long is aborted", async () => {
    let signal: AbortSignal | undefined;
    const model = createLanguageModel("v3", ({ abortSignal }) => {
      signal = abortSignal;
      return new Promise<never>(() => {});
    });
    const backend = new LanguageModelBackend(model, { firstByteMs: 20, betweenBytesMs: 20, totalMs: 1000 });
    await expect(collect(backend)).rejects.toMatchObject({ fault: "timeout", retryable: true });
    expect(signal?.aborted).toBe(true);
  });

  test("is asked without a setting that it refuses", async () => {
    const temperatures: unknown[] = [];
    const model = createLanguageModel("v3", ({ temperature }) => {
      temperatures.push(temperature);
      if (temperature === undefined) return [text("a"), finish];
      throw apiCallError({ statusCode: 400, responseBody: '{"error":{"message":"temperature is not supported"}}' });
    });
    const backend = new LanguageModelBackend(model);
    for (let n = 0; n < 2; n++) await collect(backend, { temperature: 0 });
    expect(temperatures).toEqual([0, undefined, undefined]);
  });

  test("is retried by the dispatcher, after the delay that it names", async () => {
    let calls = 0;
    const model = createLanguageModel("v3", () => {
      if (calls++ > 0) return [text("there"), finish];
      throw apiCallError({ statusCode: 429, responseHeaders: { "retry-after-ms": "5" } });
    });
    const dispatcher = new Dispatcher({ firstDelayMs: 1 });
    const outcome = await dispatcher.call(new LanguageModelBackend(model), aRequest(), { signal: never });
    expect(outcome).toMatchObject({ ok: true, text: "there", attempts: 2 });
  });
});

describe.each([
  ["3", (baseURL: string): LanguageModel => createOpenAI({ apiKey: "k", baseURL })("a-model")],
  ["2", (baseURL: string): LanguageModel => createOpenAIv2({ apiKey: "k", baseURL })("a-model")],
])("a real package of version %s", (_, create) => {
  test.each<[string, MockReply, object]>([
    ["429", { status: 429, headers: { "retry-after": "7" } }, { fault: "rate-limit", status: 429, retryAfterMs: 7000 }],
    ["500", { status: 500, body: "not even JSON" }, { fault: "server", status: 500, retryable: true }],
    ["a cut off stream", { text: ["a"], fault: "resets" }, { fault: "connection", retryable: true }],
    ["a stream that ends early", { text: ["a"], fault: "closes" }, { fault: "connection", retryable: true }],
    ["an event that is no JSON", { text: ["a"], fault: "malformed" }, { fault: "malformed", retryable: true }],
    ["an error in the stream", { text: ["a"], fault: "error-event" }, { fault: "server", retryable: true }],
  ])("reports %s", async (__, reply, expected) => {
    await using mock = await openMockProvider();
    mock.plan(reply);
    expect(await faultOf(create(mock.url))).toMatchObject({ backend: "openai.responses", ...expected });
    expect(mock.requests).toHaveLength(1);
  });
});

test.each<[unknown, string]>([
  [{}, "neither a name nor a language model"],
  [{ ...createLanguageModel("v3", () => []), specificationVersion: "v9" }, "its specificationVersion is 'v9'"],
])("checkLanguageModel() refuses %j", (model, why) => {
  expect(() => checkLanguageModel(model as LanguageModel)).toThrow(why);
});

function text(delta: string): object {
  return { type: "text-delta", id: "1", delta };
}

function finish_(unified: string): object {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return { type: "finish", finishReason: { unified, raw: undefined }, usage };
}

const finish = finish_("stop");

function named(name: string): Error {
  return Object.assign(new Error("it failed"), { name });
}

function apiCallError(fields: object): Error {
  const request = { url: "https://provider.example/v1", requestBodyValues: { prompt: "a question" } };
  return Object.assign(named("AI_APICallError"), request, fields);
}

async function collect(backend: LanguageModelBackend, request: Partial<BackendRequest> = {}, signal = never) {
  const parts: StreamPart[] = [];
  for await (const part of backend.stream(aRequest(request), { signal })) parts.push(part);
  return parts;
}

function partsOf(model: LanguageModel, request?: Partial<BackendRequest>): Promise<StreamPart[]> {
  return collect(new LanguageModelBackend(model), request);
}

async function faultOf(model: LanguageModel): Promise<BackendConnectionError> {
  const thrown: unknown = await partsOf(model).catch((reason: unknown) => reason);
  if (!(thrown instanceof BackendConnectionError)) throw new Error("no BackendConnectionError", { cause: thrown });
  return thrown;
}
