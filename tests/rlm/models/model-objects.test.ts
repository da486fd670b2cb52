// Runs whose models are objects of the AI SDK.

import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { BackendModels } from "../../../src/rlm/models/backend-models.ts";
import { nameModels } from "../../../src/rlm/models/model-names.ts";
import { ScriptedBackend, type LanguageModel, type RLMOptions } from "../../internals.ts";
import { createLanguageModel } from "../../fixtures/language-model.ts";
import { openMockProvider } from "../../fixtures/mock-provider.ts";
import { openTestRuntime } from "../../open.ts";
import { code, watch } from "../scripting.ts";

const settings = { mode: "rlm", cache: false, log: false } as const;

test("a run asks model objects, counts what they report and pays the price of the table", async () => {
  await using runtime = await openTestRuntime({ poolSize: 1 });
  const root = answer(code("FINAL(llm_query('How many?'))"), { modelId: "gpt-5", provider: "openai.responses" });
  const sub = answer("six", { modelId: "gemini-2.5-pro", provider: "google.generative-ai" });
  const { result, events } = await watch(runtime.rlm({ ...settings, model: root, subModel: sub }));
  expect(result).toMatchObject({ status: "final", answer: "six" });
  expect(Object.keys(result.usage.byModel)).toEqual(["gpt-5", "gemini-2.5-pro"]);
  expect(result.usage.total).toMatchObject({ inputTokens: 2000, outputTokens: 200, estimatedTokens: 0 });
  const costUsd = (1000 * 1.25 + 100 * 10) / 1e6; // the same for both
  expect(result.usage.total.costUsd).toBeCloseTo(2 * costUsd, 9);
  const starts = events.filter((event) => event.type === "model-call-start");
  expect(starts.map(({ backend, model }) => [backend, model])).toEqual([
    ["openai.responses", "gpt-5"],
    ["google.generative-ai", "gemini-2.5-pro"],
  ]);
});

test("a limit on tokens holds over model objects", async () => {
  await using runtime = await openTestRuntime({ poolSize: 1 });
  const root = answer(code("print([a.ok for a in llm_query_batched(['a', 'b', 'c', 'd'])])"));
  const options: RLMOptions = { ...settings, model: root, limits: { tokens: 30_000 } };
  const { result } = await watch(runtime.rlm(options));
  expect(result.status).not.toBe("final");
  expect(result.usage.total.tokens).toBeLessThanOrEqual(30_000);
});

test("the stream of a real model object is closed after the first block of code", async () => {
  await using runtime = await openTestRuntime({ poolSize: 1 });
  await using mock = await openMockProvider();
  mock.plan({ text: [code("FINAL(6)"), "\n"], fault: "hangs" });
  const model = createOpenAI({ apiKey: "k", baseURL: mock.url })("gpt-5");
  const { result } = await watch(runtime.rlm({ ...settings, model }));
  expect(result).toMatchObject({ status: "final", data: 6 });
  expect(await mock.requests[0]?.left).toBe(true);
});

test("names in code go to the configured backend, and without one to the model objects only", async () => {
  await using runtime = await openTestRuntime({ poolSize: 1 });
  const ask = "try: FINAL(llm_query('?', model='other'))\nexcept LLMError as e: FINAL(f'{e.kind}: {e}')";
  const model = answer(code(ask));
  const alone = await watch(runtime.rlm({ ...settings, model }));
  expect(alone.result.answer).toMatch(/^configuration: .*the models to choose from are 'a-model'/);
  const backend = new ScriptedBackend(["from the backend"]);
  const both = await watch(runtime.rlm({ ...settings, model, backend }));
  expect(both.result.answer).toBe("from the backend");
});

test("identical calls of model objects are answered from the cache, for this provider and address only", async () => {
  await using runtime = await openTestRuntime({ poolSize: 1 });
  let calls = 0;
  const ask = async (provider: string, address: string): Promise<unknown> => {
    const object = answer(code("FINAL('once')"), { provider, onCall: () => void calls++ });
    const model = { ...object, config: { baseURL: address } };
    return (await watch(runtime.rlm({ ...settings, cache: true, model }), { query: "cached?" })).result.answer;
  };
  expect(await ask("one.chat", "http://a")).toBe("once");
  expect(await ask("one.chat", "http://a")).toBe("once");
  expect(calls).toBe(1);
  await ask("two.chat", "http://a");
  await ask("one.chat", "http://b");
  expect(calls).toBe(3);
});

test("two objects with one model id keep their own names and the price of the model", async () => {
  const [model, subModel] = [answer("a", { modelId: "gpt-5" }), answer("b", { modelId: "gpt-5" })];
  const { roles, named } = nameModels({ model, subModel });
  expect(roles).toEqual({ model: "gpt-5", subModel: "gpt-5 (sub-model)" });
  expect(nameModels({ model, subModel: model }).roles).toEqual({ model: "gpt-5", subModel: "gpt-5" });
  const prices = { "gpt-5": { inputUsd: 1, outputUsd: 2, cacheReadUsd: 3, cacheWriteUsd: 4 } };
  const models = new BackendModels({ named, prices }, new Dispatcher());
  expect(await models.priceOf("gpt-5 (sub-model)")).toEqual(prices["gpt-5"]);
});

test("what is no model is refused when the run is set up", async () => {
  await using runtime = await openTestRuntime({ poolSize: 1 });
  const unknown = { ...answer("a"), specificationVersion: "v9" } as unknown as LanguageModel;
  for (const model of [undefined, "", null, {}, unknown]) {
    expect(() => runtime.rlm({ model: model as LanguageModel })).toThrow(TypeError);
  }
  await runtime.rlm({ model: answer("a") }).check();
});

interface Answer {
  readonly modelId?: string;
  readonly provider?: string;
  readonly onCall?: () => void;
}

function answer(text: string, { onCall, ...id }: Answer = {}): LanguageModel {
  const usage = { inputTokens: { total: 1000 }, outputTokens: { total: 100 } };
  const parts = [
    { type: "text-delta", id: "1", delta: text },
    { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
  ];
  return createLanguageModel("v3", () => (onCall?.(), parts), id);
}
