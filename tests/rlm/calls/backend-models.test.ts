import { expect, onTestFinished, test, vi } from "vitest";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import type { LanguageModel } from "../../internals.ts";
import { BackendModels } from "../../../src/rlm/calls/backend-models.ts";
import { nameModels } from "../../../src/rlm/calls/model-names.ts";
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
