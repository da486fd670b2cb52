import { describe, expect, test } from "vitest";
import { cutAt, leastTokens } from "../../../src/backends/providers/cut-prompts.ts";
import { openBackend } from "../../../src/backends/open-backend.ts";
import { openMockProvider } from "../../fixtures/mock-provider.ts";
import { aRequest } from "../describe-backend.ts";

const words = (count: number) => [{ role: "user", content: "word ".repeat(count) }] as const;
const reported = (inputTokens: number, cacheReadTokens = 0) => ({
  inputTokens,
  cacheReadTokens,
  outputTokens: 1,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

describe("cutAt()", () => {
  test("knows the least number of tokens: one for each word", () => {
    const messages = [
      { role: "system", content: "  one\ttwo\n\nthree " },
      { role: "user", content: "四五六" },
      { role: "user", content: "" },
    ] as const;
    expect(leastTokens(messages)).toBe(4);
  });

  test.each([
    ["a prompt that was cut at its window", words(20_000), reported(4096), 4096],
    ["one that lost a third", words(9_000), reported(6_000), 6_000],
    ["a whole prompt", words(20_000), reported(20_000), null],
    ["one of a tokenizer with long tokens", words(20_000), reported(16_000), null],
    ["one that came from the cache, and was not counted", words(20_000), reported(2_000, 18_000), null],
    ["one that was not counted at all", words(20_000), reported(0), null],
    ["unknown usage", words(20_000), null, null],
    ["a short prompt", words(1_900), reported(10), null],
    ["text without spaces", [{ role: "user", content: "文".repeat(50_000) }] as const, reported(3_000), null],
    ["repeated characters", [{ role: "user", content: "=".repeat(500_000) }] as const, reported(4_000), null],
    ["blank text", [{ role: "user", content: " ".repeat(500_000) }] as const, reported(4_000), null],
  ])("of %s", (_, messages, usage, expected) => {
    expect(cutAt(messages, usage)).toBe(expected);
  });
});

describe.each(["openai-compatible", "openrouter", "ollama"])("%s", (name) => {
  const ask = async (input: number) => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["An answer to the rest"], usage: { input, output: 5 } });
    const backend = await openBackend(name, { apiKey: "k", baseUrl: mock.url, env: {} });
    const seen: string[] = [];
    try {
      const request = aRequest({ messages: words(20_000) });
      for await (const { type } of backend.stream(request, { signal: new AbortController().signal })) seen.push(type);
      return { seen, error: null, facts: backend.factsOf?.("a-model") };
    } catch (error) {
      return { seen, error, facts: backend.factsOf?.("a-model") };
    }
  };

  test("reports a prompt that was cut, and knows the window from then on", async () => {
    const { seen, error, facts } = await ask(4096);
    expect(error).toMatchObject({
      fault: "context-too-long",
      retryable: false,
      message: expect.stringContaining("read only 4096 tokens of a prompt of 20000 words or more"),
    });
    expect(seen).toEqual(["response-start", "text-delta", "input-usage"]);
    expect(facts).toMatchObject({ contextWindow: 4096 });
  });

  test("reports nothing for a prompt that was read", async () => {
    expect(await ask(21_000)).toMatchObject({ error: null });
  });
});
