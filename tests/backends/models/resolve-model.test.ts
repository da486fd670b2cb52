// Names of models: which backend answers, and what the model is called there.

import { describe, expect, test } from "vitest";
import { resolveModel, suggestModel } from "../../../src/backends/models/resolve-model.ts";

const backends = { local: {}, "my.proxy": {} };
const models = {
  big: { backend: "anthropic", model: "claude-sonnet-5" },
  small: { model: "local/qwen3" },
  plain: { model: "gpt-5" },
  routed: { backend: "local", model: "qwen/qwen3" },
  "openai/gpt-5": { backend: "local", model: "own" },
};

describe("without a backend for all models", () => {
  test.each([
    ["big", "anthropic", "claude-sonnet-5"],
    ["small", "local", "qwen3"],
    ["plain", "openai", "gpt-5"],
    ["routed", "local", "qwen/qwen3"],
    ["openai/gpt-5", "local", "own"],
    ["anthropic/claude-opus-4-5", "anthropic", "claude-opus-4-5"],
    ["openai-compatible/qwen/qwen3", "openai-compatible", "qwen/qwen3"],
    ["my.proxy/a", "my.proxy", "a"],
    ["scripted/path/of/file.json", "scripted", "path/of/file.json"],
    ["scripted//path/of/file.json", "scripted", "/path/of/file.json"],
    ["claude-opus-4-5", "anthropic", "claude-opus-4-5"],
    ["gpt-5", "openai", "gpt-5"],
    ["qwen/qwen3", "openai", "qwen/qwen3"],
    ["local/", "openai", "local/"],
    ["/local/a", "openai", "/local/a"],
    ["toString/a", "openai", "toString/a"],
    ["toString", "openai", "toString"],
    ["Anthropic/a", "openai", "Anthropic/a"],
  ])("%s", (name, backend, model) => {
    expect(resolveModel(name, { models, backends, hasBackend: false })).toEqual({ backend, model });
  });
});

describe("with one, every name without a backend of its own goes to it whole", () => {
  test.each([
    ["anthropic/claude-sonnet-5", null, "anthropic/claude-sonnet-5"],
    ["local/qwen3", null, "local/qwen3"],
    ["claude-opus-4-5", null, "claude-opus-4-5"],
    ["small", null, "local/qwen3"],
    ["big", "anthropic", "claude-sonnet-5"],
    ["routed", "local", "qwen/qwen3"],
  ])("%s", (name, backend, model) => {
    expect(resolveModel(name, { models, backends, hasBackend: true })).toEqual({ backend, model });
  });
});

test.each([
  ["smal", "small"],
  ["anthropc/claude-sonnet-5", "anthropic/claude-sonnet-5"],
  ["locl/qwen3", "local/qwen3"],
  ["small", undefined],
  ["local/small", undefined],
  ["meta-llama/llama-4", undefined],
])("%s is probably a misspelt %s", (name, meant) => {
  expect(suggestModel(name, { models, backends, hasBackend: false })).toBe(meant);
});
