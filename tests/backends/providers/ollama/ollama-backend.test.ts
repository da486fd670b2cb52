import { describe, expect, test } from "vitest";
import type { Backend, BackendRequest } from "../../../../src/backends/backend.ts";
import { openBackend } from "../../../../src/backends/open-backend.ts";
import { openMockProvider, type MockProvider, type MockRequest } from "../../../fixtures/mock-provider.ts";
import { aRequest } from "../../describe-backend.ts";

const never = new AbortController().signal;
const trainedFor = (tokens: number) => ({
  model_info: { "general.architecture": "qwen3", "qwen3.context_length": tokens, "qwen3.block_count": 36 },
});

async function openOllama(mock: MockProvider): Promise<Backend> {
  mock.plan({ text: ["a"] });
  return openBackend("ollama", { baseUrl: `http://127.0.0.1:${mock.port}`, env: {} });
}

async function ask(backend: Backend, request: Partial<BackendRequest> = {}): Promise<void> {
  for await (const _ of backend.stream(aRequest(request), { signal: never }));
}

/** About as many tokens as are estimated. */
function ofTokens(tokens: number): Partial<BackendRequest> {
  return { messages: [{ role: "user", content: "x".repeat(tokens * 3) }] };
}

function sizeIn({ body }: MockRequest): unknown {
  return (body["options"] as Readonly<Record<string, unknown>>)["num_ctx"];
}

describe("a request to Ollama", () => {
  test("has everything in its own terms, and may not be cut", async () => {
    await using mock = await openMockProvider();
    const schema = { type: "object" };
    const settings = { maxTokens: 100, temperature: 0, seed: 7, reasoningEffort: "none", schema };
    await ask(await openOllama(mock), { ...settings, extraBody: { keep_alive: "1h", options: { top_k: 5 } } });
    expect(mock.requests).toMatchObject([{ path: "/api/chat" }]);
    expect(mock.requests[0]?.headers.authorization).toBeUndefined();
    expect(mock.requests[0]?.body).toEqual({
      model: "a-model",
      messages: [{ role: "user", content: "a question" }],
      format: schema,
      think: false,
      options: { num_predict: 100, temperature: 0, seed: 7, num_ctx: 8192, top_k: 5 },
      truncate: false,
      shift: false,
      stream: true,
      keep_alive: "1h",
    });
  });

  test.each([
    ["minimal", "low"],
    ["medium", "medium"],
    ["xhigh", "max"],
    ["constructor", "constructor"],
  ])("has the effort %s as %s", async (reasoningEffort, expected) => {
    await using mock = await openMockProvider();
    await ask(await openOllama(mock), { reasoningEffort });
    expect(mock.requests[0]?.body["think"]).toBe(expected);
  });

  test("goes without thinking to a model that has none", async () => {
    await using mock = await openMockProvider();
    const backend = await openOllama(mock);
    const refusal = { status: 400, body: '{"error":"\\"a-model\\" does not support thinking"}' };
    mock.plan(({ body }) => (body["think"] === undefined ? { text: ["a"] } : refusal));
    for (let n = 0; n < 2; n++) await ask(backend, { reasoningEffort: "low" });
    expect(mock.requests.map(({ body }) => body["think"])).toEqual(["low", undefined, undefined]);
  });
});

describe("the window of a model of Ollama", () => {
  test("grows with what requests need, and never shrinks", async () => {
    await using mock = await openMockProvider();
    mock.setOllama({ show: trainedFor(40_960) });
    const backend = await openOllama(mock);
    for (const tokens of [10, 6_000, 20_000, 10]) await ask(backend, { ...ofTokens(tokens), maxTokens: 1_000 });
    expect(mock.requests.map(sizeIn)).toEqual([8192, 8192, 32_768, 32_768]);
    expect(mock.lookUps.toSorted()).toEqual(["/api/ps", '/api/show {"model":"a-model"}']);
    await ask(backend, ofTokens(60_000));
    expect(sizeIn(mock.requests[4] as MockRequest)).toBe(40_960);
    expect(backend.factsOf?.("a-model")).toEqual({ contextWindow: 40_960 });
  });

  test.each([
    ["the Modelfile sets", { show: { ...trainedFor(131_072), parameters: "temperature 0.6\nnum_ctx    65536" } }],
    [
      "the model has already",
      { show: trainedFor(131_072), running: [{ name: "a-model:latest", context_length: 65_536 }] },
    ],
  ])("is the one that %s, where that is larger", async (_, state) => {
    await using mock = await openMockProvider();
    mock.setOllama(state);
    const backend = await openOllama(mock);
    for (const tokens of [10, 70_000]) await ask(backend, ofTokens(tokens));
    expect(mock.requests.map(sizeIn)).toEqual([65_536, 131_072]);
  });

  test("is the user's, where the extra body sets it", async () => {
    await using mock = await openMockProvider();
    await ask(await openOllama(mock), { ...ofTokens(50_000), extraBody: { options: { num_ctx: 2048 } } });
    expect(mock.requests.map(sizeIn)).toEqual([2048]);
    expect(mock.lookUps).toEqual([]);
  });

  test("is left to a model that runs elsewhere", async () => {
    await using mock = await openMockProvider();
    mock.setOllama({ show: { ...trainedFor(131_072), remote_host: "https://ollama.com:443", remote_model: "big" } });
    await ask(await openOllama(mock));
    expect(mock.requests.map(sizeIn)).toEqual([undefined]);
  });

  test("is asked for again where the server did not tell", async () => {
    await using mock = await openMockProvider();
    mock.setOllama({ show: { error: "model 'a-model' not found" } });
    const backend = await openOllama(mock);
    await ask(backend);
    mock.setOllama({ show: trainedFor(4_096) });
    await ask(backend);
    expect(mock.requests.map(sizeIn)).toEqual([8192, 4096]);
  });

  test("is looked up once for many calls at once", async () => {
    await using mock = await openMockProvider();
    const backend = await openOllama(mock);
    await Promise.all(Array.from({ length: 5 }, () => ask(backend)));
    expect(mock.lookUps).toHaveLength(2);
  });

  test("refuses a prompt that it can never hold, before it is sent", async () => {
    await using mock = await openMockProvider();
    mock.setOllama({ show: trainedFor(4_096) });
    const backend = await openOllama(mock);
    const messages = [{ role: "user", content: "word ".repeat(5_000) }] as const;
    await expect(ask(backend, { messages })).rejects.toMatchObject({
      fault: "context-too-long",
      message: expect.stringContaining("5000 input tokens or more, and 'a-model' has a context length of 4096"),
    });
    expect(mock.requests).toEqual([]);
  });

  test.each([
    ["a window of nonsense", { show: { model_info: { "general.architecture": "x", "x.context_length": -5 } } }],
    ["no model_info", { show: {} }],
    ["lists in place of objects", { show: { model_info: [], parameters: ["num_ctx"] }, running: [] }],
  ])("is chosen without %s", async (_, state) => {
    await using mock = await openMockProvider();
    mock.setOllama(state);
    await ask(await openOllama(mock));
    expect(mock.requests.map(sizeIn)).toEqual([8192]);
  });
});

test.each<[string, { readonly status: number; readonly body: string }, object]>([
  [
    "no such model",
    { status: 404, body: `{"error":"model 'a-model' not found"}` },
    { fault: "bad-request", status: 404 },
  ],
  [
    "a prompt that does not fit",
    { status: 400, body: '{"error":"the input length exceeds the context length"}' },
    { fault: "context-too-long" },
  ],
  [
    "a full queue",
    { status: 503, body: '{"error":"server busy, please try again.  maximum pending requests exceeded"}' },
    { fault: "server", status: 503, retryable: true },
  ],
])("Ollama reports %s", async (_, reply, expected) => {
  await using mock = await openMockProvider();
  const backend = await openOllama(mock);
  mock.plan(reply);
  await expect(ask(backend)).rejects.toMatchObject({ backend: "ollama", ...expected });
});
