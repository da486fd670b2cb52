import { describe, expect, test } from "vitest";
import { factsFromTables, mergeFacts } from "../../../src/backends/models/model-facts.ts";

describe("factsFromTables()", () => {
  test.each([
    ["openai", "gpt-4", {}, { contextWindow: 8_192, maxOutputTokens: 8_192 }],
    ["openai", "gpt-4o-mini-2024-07-18", {}, { contextWindow: 128_000, maxOutputTokens: 16_384 }],
    ["openai", "gpt-5.1", {}, { contextWindow: 400_000, reasons: true }],
    ["anthropic", "claude-3-haiku-20240307", {}, { contextWindow: 200_000, maxOutputTokens: 4_096 }],
    ["anthropic", "claude-3-5-sonnet-latest", {}, { contextWindow: 200_000, maxOutputTokens: 8_192 }],
    ["anthropic", "claude-opus-4-0", {}, { contextWindow: 200_000, maxOutputTokens: 32_000 }],
    ["anthropic", "claude-sonnet-4-5", {}, { contextWindow: 200_000, maxOutputTokens: 64_000 }],
    ["anthropic", "claude-sonnet-5", {}, { contextWindow: 1_000_000 }],
    [
      "openai-compatible",
      "deepseek-chat",
      { baseUrl: "https://api.deepseek.com/v1" },
      { contextWindow: 64_000, maxOutputTokens: 8_192 },
    ],
    [
      "openai-compatible",
      "openai/gpt-4o-mini",
      { baseUrl: "https://openrouter.ai/api/v1" },
      { contextWindow: 128_000, maxOutputTokens: 16_384 },
    ],
    [
      "google.generative-ai",
      "gemini-2.0-flash",
      { provider: "google" },
      { contextWindow: 1_000_000, maxOutputTokens: 8_192 },
    ],
    ["gemini", "gemini-2.5-pro", {}, { contextWindow: 1_048_576, reasons: true }],
    [
      "azure",
      "gpt-4o",
      { baseUrl: "https://gw.example/openai/v1" },
      { contextWindow: 128_000, maxOutputTokens: 16_384 },
    ],
    ["openrouter", "openai/gpt-4o-mini", {}, { contextWindow: 128_000, maxOutputTokens: 16_384 }],
    ["openai-compatible", "qwen3", { baseUrl: "http://localhost:11434/v1" }, {}],
    ["scripted", "gpt-4x", {}, {}],
    ["openai", "toString", {}, {}],
  ] as const)("%s, %s", async (backend, model, options, facts) => {
    const { isHosted: _, ...known } = await factsFromTables(backend, model, options);
    expect(known).toEqual(facts);
  });
});

test.each([
  ["openai", {}, true],
  ["openai", { address: "http://127.0.0.1:4000/v1" }, false],
  ["openai-compatible", { address: "https://api.deepseek.com/v1" }, true],
  ["openai-compatible", { address: "http://gpu.example:8000/v1" }, false],
  ["openai-compatible", {}, false],
  ["google.generative-ai", { provider: "google" }, true],
  ["openai.chat", { provider: "openai", address: "http://localhost:11434/v1" }, false],
  ["ollama.chat", { provider: "ollama" }, false],
  ["scripted", {}, false],
] as const)("%s %j is hosted: %s", async (backend, lookup, isHosted) => {
  expect((await factsFromTables(backend, "m", lookup)).isHosted).toBe(isHosted);
});

describe("mergeFacts()", () => {
  test("takes each fact from the configuration, then from refusals, then from tables", () => {
    const tables = { contextWindow: 1, maxOutputTokens: 2, reasons: false, isHosted: true };
    expect(mergeFacts({ tables })).toEqual(tables);
    expect(mergeFacts({ learned: { contextWindow: 10, reasons: true }, tables })).toEqual({
      contextWindow: 10,
      maxOutputTokens: 2,
      reasons: true,
      isHosted: true,
    });
    expect(mergeFacts({ configured: { contextWindow: 5, reasons: false }, learned: { reasons: true } })).toEqual({
      contextWindow: 5,
      reasons: false,
      isHosted: false,
    });
    expect(mergeFacts({})).toEqual({ isHosted: false });
  });

  test("does not let a configuration raise a limit that a provider enforced", () => {
    expect(mergeFacts({ configured: { contextWindow: 32_768 }, learned: { contextWindow: 8_192 } })).toEqual({
      contextWindow: 8_192,
      isHosted: false,
    });
  });
});
