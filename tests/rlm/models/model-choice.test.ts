import { expect, test } from "vitest";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { BackendModels, type BackendModelsOptions } from "../../../src/rlm/models/backend-models.ts";
import { nameModels, type ModelRoles } from "../../../src/rlm/models/model-names.ts";
import { ModelChoice } from "../../../src/rlm/models/model-choice.ts";
import type { LanguageModel, RLMOptions } from "../../internals.ts";
import { createLanguageModel } from "../../fixtures/language-model.ts";

type Options = Omit<BackendModelsOptions, "named">;

function choose(
  roles: ModelRoles<string | LanguageModel>,
  options: Options = {},
  models: RLMOptions["models"] = {},
  most?: number,
): ModelChoice {
  const named = nameModels(roles, models);
  const all = new BackendModels({ ...options, named: named.named }, new Dispatcher());
  return new ModelChoice(Object.values(named.roles), all, most);
}

const backends = { local: { baseUrl: "http://127.0.0.1:1" } };

test("code may ask models that have a name, those of roles, and others of a backend that answers for a role", () => {
  const models = { small: { model: "openai/gpt-5-nano" } };
  const choice = choose({ model: "anthropic/claude-sonnet-5", subModel: "local/qwen3" }, { backends }, models);
  for (const name of ["anthropic/claude-sonnet-5", "local/qwen3", "small", "claude-haiku-4-5", "local/other"])
    expect(choice.whyNot(name), name).toBeUndefined();
  const why =
    "the models to choose from are 'anthropic/claude-sonnet-5', 'local/qwen3', 'small', and all models of anthropic, local";
  for (const name of ["gpt-5", "openai/gpt-5", "openai-compatible/x", "scripted//etc/passwd", "nobody/x", ""])
    expect(choice.whyNot(name), name).toBe(why);
  expect(() => choice.check("gpt-5")).toThrow(`Cannot get an answer from gpt-5: ${why}`);
});

test("with a backend for all models, code may ask all of its models", () => {
  const choice = choose({ model: createLanguageModel("v3", () => []) }, { backend: "openai" });
  expect(choice.whyNot("anthropic/claude")).toBeUndefined();
});

test("model objects answer for themselves alone", () => {
  const choice = choose({ model: createLanguageModel("v3", () => [], { modelId: "gpt-5", provider: "openai" }) });
  expect(choice.whyNot("gpt-5")).toBeUndefined();
  expect(choice.whyNot("gpt-5-pro")).toBe("the models to choose from are 'gpt-5'");
});

test("code cannot name files that would be read as scripts", () => {
  for (const choice of [
    choose({ model: "a.json" }, { backend: "scripted" }),
    choose({ model: "scripted/a.json" }),
    choose({ model: "demo/a.json" }, { backends: { demo: { type: "scripted" } } }),
  ])
    for (const name of ["/etc/passwd", "scripted//etc/passwd", "demo//etc/passwd"])
      expect(choice.whyNot(name)).toMatch(/^the models to choose from are '[^']*a\.json'$/);
});

test("a run asks a limited number of models", () => {
  const choice = choose({ model: "gpt-5" }, {}, { named: { model: "gpt-5-nano" } }, 2);
  expect(["gpt-a", "gpt-b", "gpt-a", "gpt-5", "named"].map((name) => choice.whyNot(name))).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
  expect(choice.whyNot("gpt-c")).toBe("2 other models were asked for already");
});

test("a list of many models is cut, and so is a long name", () => {
  const models = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, { model: "gpt-5" }]));
  const choice = choose({ model: "claude-x" }, {}, models);
  expect(choice.whyNot("gpt-5")).toMatch(/'m18' and 31 more, and all models of anthropic$/);
  expect(() => choice.check("x".repeat(1_000_000))).toThrow(/^.{0,1000}$/s);
});
