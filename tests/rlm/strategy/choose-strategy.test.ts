import { describe, expect, test } from "vitest";
import { strategy } from "../../../src/protocol/strategy/strategy.ts";
import { chooseStrategy } from "../../../src/rlm/strategy/choose-strategy.ts";
import { strategies } from "../../../src/rlm/strategy/strategies.ts";
import { strategyOf } from "../../../src/rlm/strategy/strategy-of.ts";

describe("chooseStrategy()", () => {
  test.each([
    ["frontier", "gpt-5"],
    ["frontier", "gpt-4o"],
    ["frontier", "claude-opus-4-1"],
    ["frontier", "gemini-2.5-pro"],
    ["frontier", "deepseek-chat"],
    ["frontier", "qwen3-coder-480b-a35b-instruct"],
    ["frontier", "meta-llama/llama-3.3-70b-instruct"],
    ["frontier", "qwen3-30b-a3b"],
    ["frontier", "something-new"],
    ["frontier", "minimax-m2"],
    ["small", "gpt-5-mini"],
    ["small", "gpt-5-nano"],
    ["small", "gpt-4o-mini-2024-07-18"],
    ["small", "o4-mini"],
    ["small", "claude-haiku-4-5"],
    ["small", "gemini-2.5-flash-lite"],
    ["small", "qwen3:8b"],
    ["small", "Qwen/Qwen2.5-7B-Instruct"],
    ["small", "phi-4"],
    ["small", "ministral-8b-latest"],
    ["small", "llama-3.2-1.5b"],
  ])("is %s for %s", (name, model) => {
    expect(chooseStrategy({ model, backend: "openai-compatible" }).name).toBe(name);
  });

  test.each([
    ["local", "qwen3-30b-a3b"],
    ["local", "gpt-oss:20b"],
    ["local", "phi4-mini"],
    ["frontier", "gpt-5"],
    ["small", "claude-haiku-4-5"],
  ])("is %s for %s on this machine: a proxy may have large models", (name, model) => {
    const baseUrl = "http://127.0.0.1:11434/v1";
    expect(chooseStrategy({ model, backend: "openai-compatible", baseUrl }).name).toBe(name);
  });
});

test.each(Object.values(strategies))("the shipped strategy $name is a valid one", (shipped) => {
  expect(strategy.parse(shipped)).toEqual(shipped);
  expect(strategies).toHaveProperty(shipped.name, shipped);
});

describe("strategyOf()", () => {
  const locationOf = (model: string) => ({ model, backend: "openai" });

  test("is the named one for all models, or what differs from it", () => {
    expect(strategyOf({ strategy: "local" }, locationOf)("gpt-5")).toEqual(strategies.local);
    const changed = strategyOf({ strategy: { extends: "small", guards: { emptyReplies: 9 } } }, locationOf)("gpt-5");
    expect(changed).toEqual({ ...strategies.small, guards: { ...strategies.small.guards, emptyReplies: 9 } });
  });

  test("changes the one that fits each model, where none is named", () => {
    const of = strategyOf({ strategy: { observations: { displays: 1 } } }, locationOf);
    expect(of("gpt-5").calls).toEqual(strategies.frontier.calls);
    expect(of("gpt-5-mini").calls).toEqual(strategies.small.calls);
    expect(of("gpt-5-mini").observations).toEqual({ ...strategies.small.observations, displays: 1 });
  });

  test("has the system prompt that was given", () => {
    const of = strategyOf({ strategy: "small", systemPrompt: "Hello" }, locationOf);
    expect(of("gpt-5").prompts).toEqual({ ...strategies.small.prompts, system: "Hello" });
  });
});
