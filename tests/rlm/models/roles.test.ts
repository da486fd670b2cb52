// Models per role: who is asked, under which name and with which settings.

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { BackendRequest } from "../../../src/backends/backend.ts";
import type { ScriptedReply } from "../../../src/backends/scripted/script.ts";
import type { LanguageModelCall } from "../../../src/backends/providers/language-model.ts";
import { ScriptedBackend, type LanguageModel, type RLMOptions, type Runtime } from "../../internals.ts";
import { createLanguageModel } from "../../fixtures/language-model.ts";
import { openMockProvider } from "../../fixtures/mock-provider.ts";
import { openTestRuntime } from "../../open.ts";
import { code, isEnd, questionOf, watch } from "../scripting.ts";

const plain = { mode: "rlm", cache: false, log: false } as const;

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 1 });
});
afterAll(() => runtime.close());

/** Two backends that note what they are asked. */
function twoBackends(reply: (request: BackendRequest) => ScriptedReply) {
  const asked: (Pick<BackendRequest, "model"> & { readonly backend: string; readonly request: BackendRequest })[] = [];
  const open = (backend: string): ScriptedBackend =>
    new ScriptedBackend((request) => {
      asked.push({ backend, model: request.model, request });
      return reply(request);
    });
  return { asked, backends: { one: open("one"), two: open("two") } };
}

test("each role has its own backend, and keeps its name in events and in what it used", async () => {
  const { asked, backends } = twoBackends((request) => {
    if (isEnd(request)) return { text: "as far as it goes", usage: { costUsd: 1 } };
    if (request.model === "reader") return { text: "six", usage: { costUsd: 0.01 } };
    if (questionOf(request) === "a part") return { text: code("FINAL('of a child')"), usage: { costUsd: 0.1 } };
    return { text: code("print(llm_query('How many?'), rlm_query('a part'))"), usage: { costUsd: 0.001 } };
  });
  const { result, events } = await watch(
    runtime.rlm({
      ...plain,
      backends,
      models: { big: { backend: "one", model: "org/large" } },
      model: "big",
      subModel: "two/reader",
      childModel: "two/child",
      extractModel: "one/closer",
      limits: { maxIterations: 1 },
    }),
  );
  expect(result).toMatchObject({ status: "partial", answer: "as far as it goes" });
  expect(asked.map(({ backend, model }) => [backend, model])).toEqual([
    ["one", "org/large"],
    ["two", "reader"],
    ["two", "child"],
    ["one", "closer"],
  ]);
  const starts = events.filter((event) => event.type === "model-call-start");
  expect(starts.map(({ backend, model }) => [backend, model])).toEqual([
    ["one", "big"],
    ["two", "two/reader"],
    ["two", "two/child"],
    ["one", "one/closer"],
  ]);
  const { total, byModel, byRole } = result.usage;
  expect(Object.keys(byModel)).toEqual(["big", "two/reader", "two/child", "one/closer"]);
  const tokens = Object.entries(byRole).map(([role, { llmCalls, costUsd }]) => [role, llmCalls, costUsd]);
  expect(tokens).toEqual([
    ["root", 1, 0.001],
    ["sub", 1, 0.01],
    ["child", 1, 0.1],
    ["extract", 1, 1],
  ]);
  expect(total.costUsd).toBe(1.111);
  expect(events.find((event) => event.type === "run-start")).toMatchObject({
    model: "big",
    subModel: "two/reader",
    childModel: "two/child",
    extractModel: "one/closer",
  });
});

test("settings of a call win over those of its model, and these over those of all models", async () => {
  const { asked, backends } = twoBackends(({ model }) =>
    model === "root" ? code("FINAL(llm_query('a') + llm_query('b', model='warm', max_tokens=7))") : "x",
  );
  const options: RLMOptions = {
    ...plain,
    backends,
    model: "one/root",
    subModel: "two/sub",
    models: { warm: { model: "two/warm", temperature: 0.9, extraBody: { top_k: 3 }, maxTokens: 90 } },
    temperature: 0.2,
    seed: 7,
    maxTokens: 50,
  };
  const sent = (): unknown[] =>
    asked.splice(0).map(({ request }) => {
      const { model, temperature, seed, maxTokens, extraBody } = request;
      return { model, temperature, seed, maxTokens, ...(extraBody && { extraBody }) };
    });
  await watch(runtime.rlm(options));
  expect(sent()).toEqual([
    { model: "root", temperature: 0.2, seed: 7, maxTokens: 50 },
    { model: "sub", temperature: 0.2, seed: 7, maxTokens: 50 },
    { model: "warm", temperature: 0.9, seed: 7, maxTokens: 7, extraBody: { top_k: 3 } },
  ]);
  await watch(runtime.rlm(options), { temperature: 0, seed: 8 });
  expect(sent()).toMatchObject([
    { model: "root", temperature: 0, seed: 8 },
    { model: "sub", temperature: 0, seed: 8 },
    { model: "warm", temperature: 0, seed: 8 },
  ]);
});

test("answers are cached for the settings and the model that they were given with", async () => {
  const { asked, backends } = twoBackends(() => code("FINAL(1)"));
  const ask = async (big: NonNullable<RLMOptions["models"]>[string], seed?: number): Promise<number> => {
    const rlm = runtime.rlm({ ...plain, cache: true, backends, models: { big }, model: "big" });
    await watch(rlm, { query: "cached with settings?", ...(seed !== undefined && { seed }) });
    return asked.splice(0).length;
  };
  expect(await ask({ model: "one/a" })).toBe(1);
  expect(await ask({ model: "one/a" })).toBe(0);
  expect(await ask({ model: "one/a", temperature: 0 })).toBe(1);
  expect(await ask({ model: "one/a", extraBody: { top_k: 1 } })).toBe(1);
  expect(await ask({ model: "one/a" }, 1)).toBe(1);
  expect(await ask({ model: "one/a" }, 2)).toBe(1);
  expect(await ask({ model: "one/b" })).toBe(1);
  expect(await ask({ model: "two/a" })).toBe(1);
  expect(await ask({ model: "two/a" })).toBe(0);
});

test("code is refused a provider that no role uses, and told what there is", async () => {
  const { backends } = twoBackends(() =>
    code("try: llm_query('?', model='openai/gpt-5')\nexcept LLMError as error: FINAL(f'{error.kind}: {error}')"),
  );
  const { result } = await watch(runtime.rlm({ ...plain, backends, model: "one/root" }));
  expect(result.answer).toBe(
    "configuration: Cannot get an answer from openai/gpt-5: the models to choose from are 'one/root', and all models of one",
  );
});

test("keys and addresses of each backend are its own, and errors name it", async () => {
  await using first = await openMockProvider();
  await using second = await openMockProvider();
  first.plan({ text: [code("FINAL(llm_query_batched(['?'])[0].error)")] });
  second.plan({ status: 401, body: '{"error":{"message":"who are you?"}}' });
  const { result } = await watch(
    runtime.rlm({
      ...plain,
      backends: {
        first: { type: "openai", baseUrl: first.url, apiKey: "key-of-the-first" },
        second: { baseUrl: second.url, apiKey: "key-of-the-second" },
      },
      model: "first/gpt-5",
      subModel: "second/qwen3",
    }),
  );
  expect(result.answer).toMatch(/^Cannot get an answer from second: .*who are you\?/);
  const keysOf = (mock: typeof first): unknown[] => mock.requests.map(({ headers }) => headers["authorization"]);
  expect(keysOf(first)).toEqual(["Bearer key-of-the-first"]);
  expect(keysOf(second)).toEqual(["Bearer key-of-the-second"]);
});

test("the model that writes code is told the models that have names", async () => {
  const { asked, backends } = twoBackends(() => code("FINAL(1)"));
  const models = { small: { model: "two/s", description: "fast" } };
  await watch(runtime.rlm({ ...plain, backends, model: "one/root", models }));
  const [system] = asked[0]?.request.messages ?? [];
  expect(system?.content).toContain(
    'llm_query(..., model=name): where one of these suits better than the default: "small" (fast)',
  );
});

test("objects have names and settings as other models do, and answer beside backends", async () => {
  const { asked, backends } = twoBackends(() =>
    code("FINAL([llm_query('?'), llm_query('?', model='careful'), llm_query('?', model='vertex')])"),
  );
  const calls: (readonly [string, LanguageModelCall])[] = [];
  const object = (modelId: string): LanguageModel => {
    const parts = [
      { type: "text-delta", id: "1", delta: modelId },
      { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: {} },
    ];
    return createLanguageModel("v3", (call) => (calls.push([modelId, call]), parts), { modelId });
  };
  const vertex = object("gemini-on-vertex");
  const models = {
    vertex,
    careful: { model: object("claude-on-bedrock"), temperature: 0, seed: 3, maxTokens: 500 },
  };
  const { result, events } = await watch(
    runtime.rlm({ ...plain, backends, model: "one/root", subModel: vertex, models, temperature: 0.7 }),
  );
  expect(result.data).toEqual(["gemini-on-vertex", "claude-on-bedrock", "gemini-on-vertex"]);
  expect(asked.map(({ request }) => request.temperature)).toEqual([0.7]);
  expect(
    calls.map(([name, { temperature, seed, maxOutputTokens }]) => [name, temperature, seed, maxOutputTokens]),
  ).toEqual([
    ["gemini-on-vertex", 0.7, undefined, expect.anything()],
    ["claude-on-bedrock", 0, 3, 500],
    ["gemini-on-vertex", 0.7, undefined, expect.anything()],
  ]);
  expect(Object.keys(result.usage.byModel)).toEqual(["one/root", "vertex", "careful"]);
  expect(events.find((event) => event.type === "run-start")).toMatchObject({ subModel: "vertex" });
});

test("check() finds what is wrong with the backend of any role", async () => {
  const backends = { local: { baseUrl: "http://127.0.0.1:9" }, nowhere: {}, odd: { type: "nonsense" } };
  const check = (options: Partial<RLMOptions>): Promise<void> =>
    runtime.rlm({ backends, model: "local/a", ...options }).check();
  await check({});
  await expect(check({ subModel: "nowhere/a" })).rejects.toThrow(
    "Cannot get an answer from nowhere: it needs the address of its server",
  );
  await expect(check({ extractModel: "odd/a" })).rejects.toThrow("Cannot get an answer from odd: there is no backend");
  const models = { big: { backend: "lokal", model: "a" } };
  await expect(check({ models, childModel: "big" })).rejects.toThrow(
    /there is no backend 'lokal', only local, .*\. Did you mean 'local'\?/,
  );
  vi.stubEnv("OPENAI_API_KEY", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(check({ models: { careful: { model: "local/a" } }, model: "carefull" })).rejects.toThrow(
    "there is no key. Set OPENAI_API_KEY. Or did you mean the model 'careful'?",
  );
  await expect(check({ subModel: "locl/a" })).rejects.toThrow("Or did you mean the model 'local/a'?");
  await expect(check({ subModel: "gpt-5" })).rejects.toThrow(/Set OPENAI_API_KEY$/);
});
