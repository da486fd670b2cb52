import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEvents, UnreadableEvent } from "../../../src/backends/providers/event-stream.ts";
import { createEventReader } from "../../../src/backends/providers/provider-events.ts";
import type { ProviderName } from "../../../src/backends/providers/provider-models.ts";

describe("readEvents()", () => {
  test("gives the same events however the bytes are cut", async () => {
    const text =
      'event: a\ndata: {"n":1}\n\n: a comment\r\n\r\ndata:{"n":\r\ndata: "wörld 🌍"}\r\n\r\nid: 7\ndata: {"n":3}\n\ndata: [DONE]\n\ndata: {"n":4}\n\n';
    const bytes = Buffer.from(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 20 }), async (cuts) => {
        const ends = [...new Set([...cuts, bytes.length])].sort((a, b) => a - b);
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(await collect(chunks)).toEqual([{ n: 1 }, { n: "wörld 🌍" }, { n: 3 }]);
      }),
    );
  });

  test("leaves out an event that the end of the stream has cut", async () => {
    expect(await collect([Buffer.from('data: {"n":1}\n\ndata: {"n":2}')])).toEqual([{ n: 1 }]);
  });

  test.each(["data: {\n\n", "data: 3\n\n", "data: null\n\n", 'data: "text"\n\n'])("does not read %j", async (text) => {
    await expect(collect([Buffer.from(text)])).rejects.toThrow(UnreadableEvent);
  });

  test("does not keep an event without an end", async () => {
    const piece = Buffer.alloc(2 * 1024 * 1024, "x");
    await expect(collect([Buffer.from("data: "), piece, piece, piece, piece, piece])).rejects.toThrow(
      "an event has more",
    );
  });

  test("tells how much came, and cancels what nobody reads", async () => {
    let isCancelled = false;
    let bytes = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.from("data: {}\n\n")),
      cancel: () => void (isCancelled = true),
    });
    for await (const _ of readEvents(body, (more) => void (bytes += more))) break;
    expect([bytes, isCancelled]).toEqual([10, true]);
  });
});

describe("the events of", () => {
  test("compatible servers may have content in pieces, of which some are thoughts", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "yes" },
    ];
    expect(read("openai-compatible", [{ choices: [{ delta: { content } }] }])).toEqual([
      { type: "reasoning-delta", text: "hm" },
      { type: "text-delta", text: "yes" },
    ]);
  });

  test("compatible servers may refuse in words", () => {
    const events = [{ choices: [{ delta: { refusal: "no" } }] }, { choices: [{ delta: {}, finish_reason: "stop" }] }];
    expect(read("openai-compatible", events)).toEqual([
      { type: "text-delta", text: "no" },
      { type: "end", finishReason: "refusal", usage: null },
    ]);
  });

  test("Anthropic may have an answer by a schema as the input of a tool", () => {
    const events = [
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "json", input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"n":1}' } },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ];
    expect(read("anthropic", events)).toMatchObject([
      { type: "text-delta", text: '{"n":1}' },
      { type: "end", finishReason: "stop", usage: { outputTokens: 3 } },
    ]);
  });

  test("OpenAI may seal thoughts that are not shown: they are guessed from the size", () => {
    const done = (item: object) =>
      createEventReader("openai").read({ type: "response.output_item.done", output_index: 0, item });
    expect(done({ type: "reasoning", encrypted_content: "x".repeat(4000) })).toEqual([
      { type: "hidden-reasoning", maxTokens: 1000 },
    ]);
    expect(done({ type: "reasoning", summary: [] })).toEqual([{ type: "hidden-reasoning", maxTokens: Infinity }]);
    expect(done({ type: "message" })).toEqual([]);
  });

  test("OpenAI may refuse without a word", () => {
    const events = [{ type: "response.refusal.done" }, { type: "response.completed", response: {} }];
    expect(read("openai", events)).toEqual([{ type: "end", finishReason: "refusal", usage: null }]);
  });

  test("OpenAI may say flatly that it failed", () => {
    expect(() => read("openai", [{ type: "error", code: "server_error", message: "broken" }])).toThrow(
      "the provider failed",
    );
    expect(() => read("openai", [{ type: "response.failed", response: { error: { message: "broken" } } }])).toThrow(
      "the provider failed",
    );
  });

  test.each<ProviderName>(["openai", "anthropic", "openai-compatible"])(
    "%s may hold anything, and give nothing but parts or an error",
    (provider) => {
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
        fc.record({
          choices: fc.anything(),
          usage: fc.dictionary(fc.constantFrom("prompt_tokens", "cost"), fc.anything()),
        }),
      );
      fc.assert(
        fc.property(fc.array(event), (events) => {
          let parts;
          try {
            parts = read(provider, events);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
            return;
          }
          for (const part of parts)
            expect(["text-delta", "reasoning-delta", "input-usage", "end"]).toContain(part.type);
        }),
      );
    },
  );
});

async function collect(chunks: readonly Uint8Array[]): Promise<unknown[]> {
  const events: unknown[] = [];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const event of readEvents(body, () => {})) events.push(event);
  return events;
}

function read(provider: ProviderName, events: readonly Readonly<Record<string, unknown>>[]) {
  const reader = createEventReader(provider);
  return [...events.flatMap((event) => reader.read(event)), ...reader.finish()];
}
