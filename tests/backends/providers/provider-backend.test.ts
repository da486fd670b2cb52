import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { BackendRequest, StreamPart } from "../../../src/backends/backend.ts";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { openBackend } from "../../../src/backends/open-backend.ts";
import type { BackendOptions } from "../../../src/backends/open-backend.ts";
import { BackendConnectionError } from "../../../src/errors.ts";
import { openMockProvider } from "../../fixtures/mock-provider.ts";
import type { MockReply } from "../../fixtures/mock-provider.ts";
import { aRequest } from "../describe-backend.ts";

const KEY = "sk-proj-abcdefghij0123456789ABCDEFGHIJ";
const never = new AbortController().signal;

describe.each(["openai", "anthropic", "gemini", "ollama", "openai-compatible"])("%s", (name) => {
  test.each<[string, MockReply, object]>([
    ["401", { status: 401, body: error("no such key") }, { fault: "authentication", status: 401, retryable: false }],
    ["403", { status: 403, body: error("not yours") }, { fault: "authentication", status: 403, retryable: false }],
    ["404", { status: 404, body: error("no such model") }, { fault: "bad-request", status: 404, retryable: false }],
    ["408", { status: 408 }, { fault: "timeout", status: 408, retryable: true }],
    ["400", { status: 400, body: error("wrong") }, { fault: "bad-request", status: 400, retryable: false }],
    [
      "a request that is too large",
      { status: 413, body: error("Request exceeds the maximum size", "request_too_large") },
      { fault: "context-too-long", status: 413, retryable: false },
    ],
    [
      "OpenAI's context too long",
      { status: 400, body: error("Your input exceeds the context window of this model", "context_length_exceeded") },
      { fault: "context-too-long", status: 400, retryable: false },
    ],
    [
      "Anthropic's prompt too long",
      { status: 400, body: error("prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error") },
      { fault: "context-too-long", status: 400, retryable: false },
    ],
    [
      "Anthropic's answer that does not fit",
      { status: 400, body: error("input length and `max_tokens` exceed context limit: 199999 + 20000 > 200000") },
      { fault: "context-too-long", status: 400, retryable: false },
    ],
    [
      "vLLM's context too long",
      {
        status: 400,
        body: error(
          "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens",
        ),
      },
      { fault: "context-too-long", status: 400, retryable: false },
    ],
    [
      "a filter that refuses the request",
      { status: 400, body: error("flagged", "content_policy_violation") },
      { fault: "refusal", status: 400, retryable: false },
    ],
    [
      "429 with seconds",
      { status: 429, headers: { "retry-after": "7" }, body: error("slow down") },
      { fault: "rate-limit", status: 429, retryable: true, retryAfterMs: 7000 },
    ],
    [
      "429 with milliseconds",
      { status: 429, headers: { "retry-after": "7", "retry-after-ms": "350" } },
      { fault: "rate-limit", retryable: true, retryAfterMs: 350 },
    ],
    [
      "429 with a date that is over",
      { status: 429, headers: { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" } },
      { fault: "rate-limit", retryable: true, retryAfterMs: 0 },
    ],
    [
      "429 that says in words when to try again",
      {
        status: 429,
        body: error("Rate limit reached for requests per min (RPM). Please try again in 1m2.5s. Visit us"),
      },
      { fault: "rate-limit", retryable: true, retryAfterMs: 62_500 },
    ],
    [
      "429 whose headers say when all is back",
      {
        status: 429,
        headers: {
          "x-ratelimit-limit-requests": "60",
          "x-ratelimit-remaining-requests": "0",
          "x-ratelimit-reset-requests": "1m0s",
        },
      },
      { fault: "rate-limit", retryable: true, retryAfterMs: 1000 },
    ],
    [
      "429 with the headers in its body",
      {
        status: 429,
        body: JSON.stringify({
          error: {
            message: "Rate limit exceeded: free-models-per-min",
            metadata: { headers: { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" } },
          },
        }),
      },
      { fault: "rate-limit", retryable: true, retryAfterMs: 9000 },
    ],
    [
      "a quota that is used up",
      { status: 429, body: error("You exceeded your current quota", "insufficient_quota") },
      { fault: "rate-limit", status: 429, retryable: false },
    ],
    [
      "500",
      { status: 500, body: "not even JSON" },
      {
        fault: "server",
        status: 500,
        retryable: true,
        message: `Cannot get an answer from ${name}: the provider failed (HTTP 500): not even JSON`,
      },
    ],
    ["503", { status: 503, headers: { "retry-after": "1" } }, { fault: "server", status: 503, retryAfterMs: 1000 }],
    ["529", { status: 529, body: error("Overloaded", "overloaded_error") }, { fault: "server", status: 529 }],
    [
      "a stream that ends early",
      { text: ["a"], fault: "closes" },
      { fault: "connection", status: null, retryable: true },
    ],
    ["a stream that is cut", { text: ["a"], fault: "resets" }, { fault: "connection", status: null, retryable: true }],
    ["an empty stream", { fault: "closes" }, { fault: "connection", retryable: true }],
    ["an event that is no JSON", { text: ["a"], fault: "malformed" }, { fault: "malformed", retryable: true }],
    ["an event of another shape", { text: ["a"], fault: "wrong-shape" }, { fault: "malformed", retryable: true }],
    ["an error in the stream", { text: ["a"], fault: "error-event" }, { fault: "server", retryable: true }],
    ["an error at the start of it", { fault: "error-event" }, { fault: "server", retryable: true }],
    [
      "a page in place of an answer",
      { body: "<html>Welcome</html>", headers: { "content-type": "text/html" } },
      {
        fault: "malformed",
        retryable: false,
        message: expect.stringMatching(/its address is probably wrong: .*Welcome/),
      },
    ],
  ])("reports %s", async (_, reply, expected) => {
    await using mock = await openMockProvider();
    mock.plan(reply);
    expect(await faultOf(name, { baseUrl: mock.url })).toMatchObject({ backend: name, ...expected });
    expect(mock.requests).toHaveLength(1);
  });

  test("reads at most 64 KiB of an error", async () => {
    await using mock = await openMockProvider();
    mock.plan({ status: 500, body: "x".repeat(1_000_000) });
    const fault = await faultOf(name, { baseUrl: mock.url });
    expect(fault).toMatchObject({ fault: "server", status: 500 });
    expect(fault.message).toContain("... (65036 more characters)");
  });

  test("reports a refused connection", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const fault = await faultOf(name, { baseUrl: `http://127.0.0.1:${port}/v1` });
    expect(fault).toMatchObject({ fault: "connection", status: null, retryable: true });
    expect(fault.message).toMatch(/ECONNREFUSED.*\. Is its server running, and its address right\?$/);
  });

  test.each<[string, MockReply, BackendOptions["limits"], string]>([
    ["before the first byte", { fault: "silent" }, { firstByteMs: 30 }, "nothing came within 0.03 s"],
    ["within the answer", { text: ["a"], fault: "hangs" }, { betweenBytesMs: 30 }, "nothing more came within 0.03 s"],
    ["but for keep-alives", { fault: "pings" }, { totalMs: 60 }, "it was not complete within 0.06 s"],
  ])("times out on a request that is silent %s, and closes it", async (_, reply, limits = {}, why) => {
    await using mock = await openMockProvider();
    mock.plan(reply);
    const fault = await faultOf(name, { baseUrl: mock.url, limits });
    expect(fault).toMatchObject({ fault: "timeout", retryable: true, message: expect.stringContaining(why) });
    // On a slow machine the limit may be reached before the request arrives.
    for (const { left } of mock.requests) expect(await left).toBe(true);
  });

  test("does not follow a redirect, which would take the key elsewhere", async () => {
    await using mock = await openMockProvider();
    await using other = await openMockProvider();
    mock.plan({ status: 307, headers: { location: `${other.url}/responses` } });
    expect(await faultOf(name, { baseUrl: mock.url })).toMatchObject({ fault: "bad-request", status: 307 });
    expect(other.requests).toEqual([]);
  });

  test.each<[string, MockReply]>([
    ["in the message of an error", { status: 401, body: error(`Incorrect API key provided: ${KEY}. Try another`) }],
    ["in the body", { status: 500, body: `debug: authorization=Bearer ${KEY} x-api-key: ${encodeURIComponent(KEY)}` }],
    ["in part", { status: 401, body: error(`Incorrect API key provided: ${KEY.slice(0, 24)}***`) }],
    ["in a page", { body: `<html>${KEY}</html>`, headers: { "content-type": "text/html" } }],
    ["in a header", { status: 400, headers: { "x-echo": KEY }, body: error("wrong") }],
    ["in an event", { text: ["a"], fault: "malformed", echo: KEY }],
  ])("never reveals the key that the provider echoes %s", async (_, reply) => {
    await using mock = await openMockProvider();
    mock.plan(reply);
    const fault = await faultOf(name, { baseUrl: mock.url });
    const shown = inspect(fault, { depth: 10, showHidden: true }) + JSON.stringify(fault);
    expect(shown).not.toContain(KEY.slice(0, 16));
    expect(shown).not.toContain("a question");
  });

  test("never reveals the key in the type of a page, whatever the key looks like", async () => {
    await using mock = await openMockProvider();
    const apiKey = "0123456789abcdef0123456789abcdef";
    mock.plan({ body: "a", headers: { "content-type": `text/html; echo=${apiKey}` } });
    const fault = await faultOf(name, { baseUrl: mock.url, apiKey });
    expect(String(fault)).toContain(
      "not a stream of events but text/html; echo=***, so its address is probably wrong: a",
    );
  });

  test("sends the key and the messages", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    await textOf(name, { baseUrl: mock.url, env: {} });
    const headers = mock.requests[0]?.headers ?? {};
    const header = { anthropic: "x-api-key", gemini: "x-goog-api-key" }[name] ?? "authorization";
    expect(String(headers[header]).replace("Bearer ", "")).toBe(KEY);
    expect(headers?.["user-agent"]).toMatch(/^rlm-runtime\//);
    expect(JSON.stringify(mock.requests[0]?.body)).toContain("a question");
  });

  test("stops sending the temperature to a model that refuses it", async () => {
    await using mock = await openMockProvider();
    mock.plan(({ body }) =>
      settingsIn(body)["temperature"] === undefined
        ? { text: ["warm"] }
        : { status: 400, body: error("Unsupported parameter: 'temperature' is not supported with this model") },
    );
    const backend = await openBackend(name, { apiKey: KEY, baseUrl: mock.url });
    const request = aRequest({ temperature: 0 });
    for (let n = 0; n < 2; n++) for await (const _ of backend.stream(request, { signal: never }));
    const sent = mock.requests.map(({ body }) => settingsIn(body)["temperature"]);
    expect(sent).toEqual([0, undefined, undefined]);
  });

  test("does not repeat a request for a 400 about something else", async () => {
    await using mock = await openMockProvider();
    mock.plan({ status: 400, body: error("unknown field") });
    await faultOf(name, { baseUrl: mock.url }, { temperature: 0 });
    expect(mock.requests).toHaveLength(1);
  });

  test("sends the schema, and stops where it is refused", async () => {
    await using mock = await openMockProvider();
    const fields = { openai: "text", anthropic: "output_config", gemini: "responseJsonSchema", ollama: "format" };
    const field = (fields as Partial<Record<string, string>>)[name] ?? "response_format";
    mock.plan(({ body }) =>
      settingsIn(body)[field] === undefined
        ? { text: ['{"n":1}'] }
        : { status: 400, body: error(`response_format: json_schema is not supported (${field})`) },
    );
    const schema = {
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      additionalProperties: false,
    };
    const model = name === "anthropic" ? "claude-sonnet-4-5" : "a-model";
    expect(await textOf(name, { baseUrl: mock.url }, { schema, model })).toBe('{"n":1}');
    const sent = mock.requests.map(({ body }) => settingsIn(body)[field]);
    expect(JSON.stringify(sent[0])).toContain('"n"');
    expect(sent.map((value) => value === undefined)).toEqual([false, true]);
  });

  test("sends the fields of an extra body, which may not replace the messages", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    await textOf(name, { baseUrl: mock.url }, { extraBody: { top_k: 40, metadata: { user: "me" } } });
    expect(mock.requests[0]?.body).toMatchObject({ top_k: 40, metadata: { user: "me" } });
    const fault = await faultOf(name, { baseUrl: mock.url }, { extraBody: { messages: [] } });
    expect(fault).toMatchObject({ fault: "configuration", retryable: false });
    expect(mock.requests).toHaveLength(1);
  });

  test("is retried by the dispatcher after a 429 within a batch", async () => {
    await using mock = await openMockProvider();
    let asked = 0;
    mock.plan(() => (asked++ === 3 ? { status: 429, headers: { "retry-after-ms": "20" } } : { text: ["yes"] }));
    const backend = await openBackend(name, { apiKey: KEY, baseUrl: mock.url });
    const dispatcher = new Dispatcher({ maxConcurrency: 4, firstDelayMs: 1 });
    const calls = Array.from({ length: 12 }, () => dispatcher.call(backend, aRequest(), { signal: never }));
    const outcomes = await Promise.all(calls);
    expect(outcomes.map((outcome) => outcome.ok && outcome.text)).toEqual(Array(12).fill("yes"));
    expect([mock.requests.length, dispatcher.inFlight]).toEqual([13, 0]);
  });

  test("counts as spent, by an estimate, where the answer breaks off before its first text", async () => {
    await using mock = await openMockProvider();
    mock.plan({ fault: "resets", usage: { input: 40, output: 0 } });
    const backend = await openBackend(name, { apiKey: KEY, baseUrl: mock.url });
    const outcome = await new Dispatcher({ maxTries: 1 }).call(backend, aRequest(), { signal: never });
    expect(outcome).toMatchObject({ ok: false, error: { fault: "connection" } });
    const isInputReported = name === "anthropic";
    const [inputTokens, estimatedTokens] = isInputReported ? [40, 0] : [12, 12];
    expect(outcome.usage).toMatchObject({ inputTokens, outputTokens: 0, estimatedTokens });
  });

  test("reuses its connections", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["yes"] });
    const backend = await openBackend(name, { apiKey: KEY, baseUrl: mock.url });
    for (let n = 0; n < 3; n++) {
      const outcome = await new Dispatcher().call(backend, aRequest(), { signal: never });
      expect(outcome).toMatchObject({ ok: true, text: "yes" });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(new Set(mock.requests.map(({ clientPort }) => clientPort)).size).toBe(1);
  });

  test("closes the request after a cut", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["```repl\nx\n```\n"], fault: "hangs", usage: { input: 40, output: 9 } });
    const backend = await openBackend(name, { apiKey: KEY, baseUrl: mock.url });
    const outcome = await new Dispatcher().call(backend, aRequest(), { signal: never, onPart: () => "cut" });
    expect(outcome).toMatchObject({ ok: true, finishReason: "cut", attempts: 1 });
    const isInputReported = name === "anthropic" || name === "gemini";
    const [inputTokens, outputTokens] = [isInputReported ? 40 : 4 + 8, 5 + 32];
    expect(outcome.usage).toMatchObject({ inputTokens, outputTokens });
    expect(outcome.usage.estimatedTokens).toBe(isInputReported ? outputTokens : inputTokens + outputTokens);
    expect(await mock.requests[0]?.left).toBe(true);
  });

  test("reports usage where the answer ends right after a cut", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["```repl\nx\n```\n", "\n"], usage: { input: 40, output: 9, reasoning: 3 } });
    const backend = await openBackend(name, { apiKey: KEY, baseUrl: mock.url });
    const outcome = await new Dispatcher().call(backend, aRequest(), { signal: never, onPart: () => "cut" });
    expect(outcome).toMatchObject({ ok: true, text: "```repl\nx\n```\n", finishReason: "stop" });
    const reasoningTokens = name === "ollama" ? 0 : 3; // it does not count them apart
    expect(outcome.usage).toMatchObject({ inputTokens: 40, outputTokens: 9, reasoningTokens });
    expect(outcome.usage.estimatedTokens ?? 0).toBe(0);
  });
});

describe("anthropic", () => {
  test("is sent a smaller max_tokens once it has named its limit", async () => {
    await using mock = await openMockProvider();
    const why = "max_tokens: 16000 > 4096, which is the maximum allowed number of output tokens";
    mock.plan(({ body }) =>
      Number(body["max_tokens"]) > 4096 ? { status: 400, body: error(why) } : { text: ["fine"] },
    );
    const backend = await openBackend("anthropic", { apiKey: KEY, baseUrl: mock.url });
    for (const maxTokens of [16_000, 9_000, 100])
      for await (const _ of backend.stream(aRequest({ maxTokens }), { signal: never }));
    expect(mock.requests.map(({ body }) => body["max_tokens"])).toEqual([16_000, 4096, 4096, 100]);
  });

  test("marks where the prompt cache may end: after the system messages and after the repeated ones", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    const messages = [
      { role: "system", content: "rules" },
      { role: "user", content: "question" },
      { role: "assistant", content: "code" },
      { role: "user", content: "output" },
    ] as const;
    await textOf("anthropic", { baseUrl: mock.url }, { messages, stableMessages: 2 });
    const mark = { cache_control: { type: "ephemeral" } };
    expect(mock.requests[0]?.body).toMatchObject({
      system: [{ type: "text", text: "rules", ...mark }],
      messages: [
        { role: "user", content: [{ type: "text", text: "question", ...mark }] },
        { role: "assistant", content: [{ type: "text", text: "code" }] },
        { role: "user", content: [{ type: "text", text: "output" }] },
      ],
    });
    expect(JSON.stringify(mock.requests[0]?.body).match(/cache_control/g)).toHaveLength(2);
  });
});

describe("reasoning models", () => {
  const effort = { reasoningEffort: "low" };

  test.each([
    ["openai", "gpt-5", { reasoning: { effort: "low" }, include: ["reasoning.encrypted_content"] }],
    ["anthropic", "claude-opus-5-5", { output_config: { effort: "low" } }],
    ["openai-compatible", "qwen3", { reasoning_effort: "low" }],
  ])("are sent their effort: %s", async (name, model, expected) => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    await textOf(name, { baseUrl: mock.url }, { model, temperature: 0.5, maxTokens: 900, ...effort });
    expect(mock.requests[0]?.body).toMatchObject(expected);
    if (name === "openai") expect(mock.requests[0]?.body).toMatchObject({ max_output_tokens: 900 });
    if (name === "openai") expect(mock.requests[0]?.body).not.toHaveProperty("temperature");
  });

  test("are sent no effort once they refused the setting, but a wrong value is an error", async () => {
    await using mock = await openMockProvider();
    const backend = await openBackend("openai-compatible", { apiKey: KEY, baseUrl: mock.url });
    const ask = (model: string) => new Dispatcher().call(backend, aRequest({ model, ...effort }), { signal: never });
    mock.plan({ status: 400, body: error("Unsupported parameter: 'reasoning_effort'") }, { text: ["a"] });
    expect(await ask("plain")).toMatchObject({ ok: true, text: "a", attempts: 1 });
    expect(mock.requests.map(({ body }) => body["reasoning_effort"])).toEqual(["low", undefined]);
    mock.plan({ status: 400, body: error("Unsupported value: 'reasoning_effort' does not support 'low'") });
    expect(await ask("other")).toMatchObject({ ok: false, attempts: 1, error: { fault: "bad-request" } });
  });
});

describe("openai", () => {
  test("stores nothing at the provider, and sends at least the smallest limit that it accepts", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    await textOf("openai", { baseUrl: mock.url }, { maxTokens: 5 });
    expect(mock.requests[0]).toMatchObject({ path: "/v1/responses", body: { store: false, max_output_tokens: 16 } });
  });

  test("is sent one key for the prompt cache in all steps of a conversation, and none in single calls", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    const first = [
      { role: "system", content: "rules" },
      { role: "user", content: "question" },
    ] as const;
    const steps = [
      first,
      [...first, { role: "assistant", content: "code" }, { role: "user", content: "output" }],
    ] as const;
    for (const messages of steps) {
      await textOf("openai", { baseUrl: mock.url }, { messages, stableMessages: messages.length });
    }
    await textOf("openai", { baseUrl: mock.url }, { messages: first });
    const [one, two, none] = mock.requests.map(({ body }) => body["prompt_cache_key"]);
    expect([one, none]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), undefined]);
    expect(two).toBe(one);
  });

  test("enforces a schema only where OpenAI can", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["{}"] });
    const closed = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    const open = { type: "object", properties: { a: { type: "object", properties: {} } } };
    await textOf("openai", { baseUrl: mock.url }, { schema: closed });
    await textOf("openai", { baseUrl: mock.url }, { schema: open });
    expect(mock.requests.map(({ body }) => (body["text"] as { format: { strict: boolean } }).format.strict)).toEqual([
      true,
      false,
    ]);
  });
});

test.each([
  ["openai-compatible", 7],
  // Their protocols have no such field, and refuse unknown ones.
  ["openai", undefined],
  ["anthropic", undefined],
])("%s is sent the seed %s", async (name, expected) => {
  await using mock = await openMockProvider();
  mock.plan({ text: ["a"] });
  await textOf(name, { baseUrl: mock.url }, { seed: 7 });
  expect(mock.requests[0]?.body["seed"]).toBe(expected);
});

test("the headers of a response have its rate limits", async () => {
  await using mock = await openMockProvider();
  mock.plan({ text: ["a"], headers: { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m0.5s" } });
  const [start] = await partsOf("openai-compatible", { baseUrl: mock.url });
  const rateLimits = { tokens: { remaining: 0, resetMs: 60_500, refill: "gradual" } };
  expect(start).toEqual({ type: "response-start", rateLimits });
});

describe("openai-compatible", () => {
  test("sends no key where there is none", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    const backend = await openBackend("openai-compatible", { baseUrl: mock.url, env: { OPENAI_API_KEY: KEY } });
    for await (const _ of backend.stream(aRequest(), { signal: never }));
    expect(mock.requests[0]?.headers.authorization).toBeUndefined();
  });

  test("has the cost that the provider reports", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"], costUsd: 0.25 });
    const parts = await partsOf("openai-compatible", { baseUrl: mock.url });
    expect(parts.at(-1)).toMatchObject({ usage: { costUsd: 0.25 } });
  });
});

/** Gemini has its settings in an object of their own, Ollama some of them. */
function settingsIn(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { ...body, ...(body["generationConfig"] as object), ...(body["options"] as object) };
}

test("a key that is missing is told from one that is not accepted", async () => {
  await using mock = await openMockProvider();
  const messageOf = async (apiKey: string): Promise<string> => {
    mock.plan({ status: 401, body: error("no such key") });
    return (await faultOf("openai-compatible", { baseUrl: mock.url, env: {}, apiKey })).message;
  };
  expect(await messageOf("")).toMatch(/: it wants a key, and none is set \(HTTP 401\): no such key$/);
  expect(await messageOf(KEY)).toMatch(/: the key is not accepted \(HTTP 401\): no such key$/);
});

function error(message: string, type = "some_error"): string {
  return JSON.stringify({ type: "error", error: { type, message, code: type } });
}

async function partsOf(
  name: string,
  options: BackendOptions,
  request: Partial<BackendRequest> = {},
): Promise<StreamPart[]> {
  const backend = await openBackend(name, { apiKey: KEY, ...options });
  const parts: StreamPart[] = [];
  for await (const part of backend.stream(aRequest(request), { signal: never })) parts.push(part);
  return parts;
}

async function textOf(name: string, options: BackendOptions, request?: Partial<BackendRequest>): Promise<string> {
  const parts = await partsOf(name, options, request);
  return parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("");
}

async function faultOf(
  name: string,
  options: BackendOptions,
  request?: Partial<BackendRequest>,
): Promise<BackendConnectionError> {
  const thrown: unknown = await partsOf(name, options, request).catch((reason: unknown) => reason);
  if (!(thrown instanceof BackendConnectionError)) throw new Error("no BackendConnectionError", { cause: thrown });
  return thrown;
}
