import { describe, expect, test } from "vitest";
import { fillTemplate } from "../../../src/rlm/strategy/fill-template.ts";
import { mergeStrategy } from "../../../src/rlm/strategy/merge-strategy.ts";
import { firstMessage, systemPrompt } from "../../../src/rlm/strategy/prompts.ts";
import { strategies } from "../../../src/rlm/strategy/strategies.ts";

const { frontier, local } = strategies;
const facts = { tools: [], canRecurse: true, schema: undefined, models: [] };

describe("fillTemplate()", () => {
  test("replaces placeholders once, and leaves other braces and the braces of values as they are", () => {
    const filled = fillTemplate('{a} {b} {"c"} {constructor}', { a: "{b}", b: "$& 2" });
    expect(filled).toBe('{b} $& 2 {"c"} {constructor}');
  });

  test("leaves no blank lines for an empty value", () => {
    expect(fillTemplate("{a}\n\n{b}\n\n{c}", { a: "1", b: "", c: "3" })).toBe("1\n\n3");
  });
});

describe("systemPrompt()", () => {
  test("describes the helpers of the strategy, the tools, and the schema", () => {
    const tools = [{ name: "dice", signature: "dice(sides)", parameters: ["sides"], doc: "Rolls.\nMore" }];
    const prompt = systemPrompt(local, { ...facts, tools, schema: { type: "integer" } });
    expect(prompt).toMatch(/\n- llm_query\(prompt[^\n]*\n- llm_query_batched[^\n]*\n- map_query/);
    expect(prompt).not.toContain("rlm_query");
    expect(prompt).toContain("\n- dice(sides): Rolls.\n");
    expect(prompt).toMatch(/follows this schema:\n\{"type":"integer"\}$/);
  });

  test("says that a child at the limit is a single call", () => {
    const prompt = systemPrompt(frontier, { ...facts, canRecurse: false });
    expect(prompt).toContain("- rlm_query(task, context=None): at this depth the same as llm_query\n- map_query");
  });

  test("names the models that code may ask, with what they are good for, and no more than twenty", () => {
    const models = [{ name: "small", description: "fast,\ncheap" }, { name: 'the "big" one' }];
    const prompt = systemPrompt(frontier, { ...facts, models });
    expect(prompt).toMatch(
      /\n- llm_query\(..., model=name\)[^\n]*: "small" \(fast, cheap\), "the \\"big\\" one"\n- _out\[n\]/,
    );
    expect(systemPrompt(frontier, facts)).not.toContain("model=...");
    const many = Array.from({ length: 30 }, (_, n) => ({ name: `m${n}` }));
    expect(systemPrompt(frontier, { ...facts, models: many })).toMatch(/"m19"\n/);
  });

  test("of one's own is followed by what no model can work without, unless it names that", () => {
    const own = mergeStrategy(frontier, { prompts: { system: "You are a botanist. {functions}" } });
    const prompt = systemPrompt(own, facts);
    expect(prompt).toMatch(/^You are a botanist\. In the session, besides Python's own:\n- llm_query/);
    expect(prompt.match(/- llm_query\(/g)).toHaveLength(1);
    expect(prompt).toContain("Each reply holds one block of code");
    expect(prompt).toContain("call FINAL(answer)");
    expect(prompt).not.toContain("How to work");
  });
});

test("firstMessage() has the question and the variables, whatever they contain", () => {
  expect(firstMessage(frontier, "{material}?", "- `context`: str")).toBe(
    "Question: {material}?\n\nThe variables:\n- `context`: str",
  );
  expect(firstMessage(frontier, "Q", "")).toBe("Question: Q\n\nThere is no material besides the question.");
});
