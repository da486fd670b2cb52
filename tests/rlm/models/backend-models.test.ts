import { expect, onTestFinished, test, vi } from "vitest";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { ScriptedBackend, type LanguageModel } from "../../internals.ts";
import { BackendModels } from "../../../src/rlm/models/backend-models.ts";
import { nameModels } from "../../../src/rlm/models/model-names.ts";
import { createLanguageModel } from "../../fixtures/language-model.ts";

test("answers of one address are never used for another, wherever the address is configured", () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const scopeOf = (options: { readonly baseUrl?: string } = {}): string =>
    new BackendModels({ backend: "openai", ...options }, new Dispatcher()).scopeOf("m");
  vi.stubEnv("OPENAI_BASE_URL", undefined);
  const usual = scopeOf();
  vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
  expect(scopeOf()).not.toBe(usual);
  expect(scopeOf({ baseUrl: "http://127.0.0.1:9" })).toBe(scopeOf());
});

test("answers of a model object are shared only with objects that send to the same address", () => {
  const scopeOf = (config?: object): string => {
    const object = { ...createLanguageModel("v3", () => []), ...(config && { config }) } as LanguageModel;
    const { named } = nameModels({ model: object });
    return new BackendModels({ named }, new Dispatcher()).scopeOf(object.modelId);
  };
  const toUrl = (base: string) => ({ url: ({ path }: { readonly path: string }) => `${base}${path}` });
  expect(scopeOf(toUrl("http://a/v1"))).toBe(scopeOf(toUrl("http://a/v1")));
  expect(scopeOf({ baseURL: "http://a/v1" })).toBe(scopeOf(toUrl("http://a/v1")));
  expect(scopeOf(toUrl("http://b/v1"))).not.toBe(scopeOf(toUrl("http://a/v1")));
  expect(scopeOf(), "an unknown address").not.toBe(scopeOf());
  expect(scopeOf({ url: () => JSON.parse("{") }), "a config that throws").not.toBe(scopeOf());
});

test("keys of model objects are known from the environment", () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("SOME_VENDOR_API_KEY", "a-very-private-value");
  const { named } = nameModels({ model: createLanguageModel("v3", () => []) });
  expect(new BackendModels({ named }, new Dispatcher()).secretsOf([])).toContain("a-very-private-value");
});

test("a price may be given for the name of a definition, for the backend and the model, or for the model", async () => {
  const priceOf = async (name: string, prices: readonly string[]): Promise<number | undefined> => {
    const { named } = nameModels({ model: "big" }, { big: { backend: "local", model: "m" } });
    const table = Object.fromEntries(prices.map((key, at) => [key, toPrice(at + 1)]));
    const backends = { local: { baseUrl: "http://127.0.0.1:1" } };
    return (await new BackendModels({ named, backends, prices: table }, new Dispatcher()).priceOf(name))?.inputUsd;
  };
  expect(await priceOf("big", ["m", "local/m", "big"])).toBe(3);
  expect(await priceOf("big", ["m", "local/m"])).toBe(2);
  expect(await priceOf("big", ["m"])).toBe(1);
  expect(await priceOf("local/m", ["big", "m", "local/m"])).toBe(3);
  expect(await priceOf("big", ["toString"])).toBeUndefined();
});

function toPrice(usd: number) {
  return { inputUsd: usd, outputUsd: usd, cacheReadUsd: usd, cacheWriteUsd: usd };
}

test("what the caller says of a model counts as known of it", async () => {
  const { named } = nameModels({ model: "a" }, { a: { model: "gpt-5", contextWindow: 1000, maxOutputTokens: 100 } });
  const models = new BackendModels({ named }, new Dispatcher());
  expect(await models.factsOf("a")).toMatchObject({ contextWindow: 1000, maxOutputTokens: 100, reasons: true });
  expect((await models.factsOf("gpt-5")).contextWindow).toBeGreaterThan(100_000);
});

test("keys of all backends that may answer are known, and of no others", () => {
  const env = { OPENAI_API_KEY: "key-openai", GROQ_API_KEY: "key-groq", XAI_API_KEY: "key-xai" };
  const { named, roles } = nameModels({ model: "openai/a" }, { b: { model: "mine/b" }, c: { model: "groq/c" } });
  const backends = { mine: { baseUrl: "http://127.0.0.1:1", apiKey: "key-mine" } };
  const models = new BackendModels({ named, backends, env }, new Dispatcher());
  expect(models.secretsOf(Object.values(roles)).toSorted()).toEqual(["key-groq", "key-mine", "key-openai"]);
});

test("scripts are known by any name", () => {
  const script = new ScriptedBackend([]);
  const models = new BackendModels({ backends: { a: script, b: { type: "scripted" } } }, new Dispatcher());
  const names = ["a/x", "b/x.json", "scripted/x.json", "openai/x"];
  expect(names.map((name) => models.isScripted(name))).toEqual([true, true, true, false]);
});
