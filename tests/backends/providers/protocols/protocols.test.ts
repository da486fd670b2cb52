import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../../../../src/backends/providers/protocols/anthropic-messages.ts";
import { gemini } from "../../../../src/backends/providers/protocols/gemini.ts";
import { ollamaChat } from "../../../../src/backends/providers/protocols/ollama-chat.ts";
import { openaiChat } from "../../../../src/backends/providers/protocols/openai-chat.ts";
import { openaiResponses } from "../../../../src/backends/providers/protocols/openai-responses.ts";
import type { WireProtocol } from "../../../../src/backends/providers/protocols/wire-protocol.ts";

describe("the events of", () => {
  test("compatible servers may have content in pieces, of which some are reasoning", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "yes" },
    ];
    expect(read(openaiChat, [{ choices: [{ delta: { content } }] }])).toEqual([
      { type: "reasoning-delta", text: "hm" },
      { type: "text-delta", text: "yes" },
    ]);
  });

  test.each([
    [{ prompt_tokens_details: { cached_tokens: 6 } }],
    [{ prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 4 }],
    [{ cached_tokens: 6 }],
  ])("compatible servers count what came from the cache as %j", (counts) => {
    const usage = { prompt_tokens: 10, completion_tokens: 1, ...counts };
    const parts = read(openaiChat, [{ choices: [{ delta: {}, finish_reason: "stop" }] }, { choices: [], usage }]);
    expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 10, cacheReadTokens: 6 } });
  });

  test("compatible servers may refuse in words", () => {
    const events = [{ choices: [{ delta: { refusal: "no" } }] }, { choices: [{ delta: {}, finish_reason: "stop" }] }];
    expect(read(openaiChat, events)).toEqual([
      { type: "text-delta", text: "no" },
      { type: "end", finishReason: "refusal", usage: null },
    ]);
  });

  test("OpenAI may hide reasoning: it is estimated from the size of the encrypted text", () => {
    const done = (item: object) =>
      openaiResponses.createReader().read({ type: "response.output_item.done", output_index: 0, item });
    expect(done({ type: "reasoning", encrypted_content: "x".repeat(4000) })).toEqual([
      { type: "hidden-reasoning", maxTokens: 1000 },
    ]);
    expect(done({ type: "reasoning", summary: [] })).toEqual([{ type: "hidden-reasoning", maxTokens: Infinity }]);
    expect(done({ type: "message" })).toEqual([]);
  });

  test("OpenAI may refuse without text", () => {
    const events = [{ type: "response.refusal.done" }, { type: "response.completed", response: {} }];
    expect(read(openaiResponses, events)).toEqual([{ type: "end", finishReason: "refusal", usage: null }]);
  });

  test("OpenAI may report an error in two forms", () => {
    expect(() => read(openaiResponses, [{ type: "error", code: "server_error", message: "broken" }])).toThrow(
      "the provider failed",
    );
    expect(() =>
      read(openaiResponses, [{ type: "response.failed", response: { error: { message: "broken" } } }]),
    ).toThrow("the provider failed");
  });

  test.each<[string, WireProtocol]>([
    ["OpenAI", openaiResponses],
    ["Anthropic", anthropicMessages],
    ["Gemini", gemini],
    ["Ollama", ollamaChat],
    ["compatible servers", openaiChat],
  ])("%s may be anything and yield only parts or an error", (_, protocol) => {
    const type = fc.constantFrom(
      "response.completed",
      "response.output_text.delta",
      "message_start",
      "message_delta",
      "content_block_delta",
    );
    const event = fc.oneof(
      fc.dictionary(fc.string(), fc.anything()),
      fc.record({
        type,
        delta: fc.anything(),
        response: fc.anything(),
        message: fc.anything(),
        usage: fc.anything(),
      }),
      fc.record({ message: fc.anything(), done: fc.anything(), prompt_eval_count: fc.anything() }),
      fc.record({
        candidates: fc.array(fc.record({ content: fc.anything(), finishReason: fc.anything() })),
        usageMetadata: fc.dictionary(fc.constantFrom("promptTokenCount", "thoughtsTokenCount"), fc.anything()),
        promptFeedback: fc.anything(),
      }),
      fc.record({
        choices: fc.anything(),
        usage: fc.dictionary(fc.constantFrom("prompt_tokens", "cost"), fc.anything()),
      }),
    );
    fc.assert(
      fc.property(fc.array(event), (events) => {
        let parts;
        try {
          parts = read(protocol, events);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          return;
        }
        for (const part of parts)
          expect(["text-delta", "reasoning-delta", "input-usage", "hidden-reasoning", "end"]).toContain(part.type);
      }),
    );
  });
});

function read(protocol: WireProtocol, events: readonly Readonly<Record<string, unknown>>[]) {
  const reader = protocol.createReader();
  return [...events.flatMap((event) => reader.read(event)), ...(reader.finish?.() ?? [])];
}
