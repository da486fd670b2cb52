// Calls of tools in the streams of providers, by models that were offered none.

import { describe, expect, test } from "vitest";
import type { StreamPart } from "../../../../src/backends/backend.ts";
import { LanguageModelBackend } from "../../../../src/backends/providers/language-model-backend.ts";
import { anthropicMessages } from "../../../../src/backends/providers/protocols/anthropic-messages.ts";
import { gemini } from "../../../../src/backends/providers/protocols/gemini.ts";
import { ollamaChat } from "../../../../src/backends/providers/protocols/ollama-chat.ts";
import { openaiChat } from "../../../../src/backends/providers/protocols/openai-chat.ts";
import { openaiResponses } from "../../../../src/backends/providers/protocols/openai-responses.ts";
import { ToolCalls } from "../../../../src/backends/providers/protocols/tool-calls.ts";
import type { Fields, WireProtocol } from "../../../../src/backends/providers/protocols/wire-protocol.ts";
import { createLanguageModel } from "../../../fixtures/language-model.ts";
import { aRequest } from "../../describe-backend.ts";

function callsIn(protocol: WireProtocol, events: readonly Fields[]): readonly StreamPart[] {
  const reader = protocol.createReader();
  const parts = [...events.flatMap((event) => reader.read(event)), ...(reader.finish?.() ?? [])];
  expect(parts.at(-1)?.type).toBe("end");
  return parts.filter(({ type }) => type === "tool-call");
}

const PYTHON = { type: "tool-call", name: "python", arguments: '{"code":"1"}' };
const chat = (delta: Fields, finish_reason: string | null = null): Fields => ({ choices: [{ delta, finish_reason }] });

describe("a call of a tool is a part of its own", () => {
  test("in Chat Completions, in pieces and several at once", () => {
    const piece = (index: number, called: Fields): Fields => chat({ tool_calls: [{ index, function: called }] });
    const events = [
      piece(0, { name: "python", arguments: "" }),
      piece(1, { name: "other", arguments: "{}" }),
      piece(0, { arguments: '{"code"' }),
      piece(0, { arguments: ':"1"}' }),
      chat({}, "tool_calls"),
    ];
    expect(callsIn(openaiChat, events)).toEqual([PYTHON, { type: "tool-call", name: "other", arguments: "{}" }]);
    const older = [chat({ function_call: { name: "python", arguments: '{"code":"1"}' } }), chat({}, "function_call")];
    expect(callsIn(openaiChat, older)).toEqual([PYTHON]);
  });

  test("in Responses", () => {
    const events = [
      { type: "response.output_item.done", item: { type: "function_call", name: "python", arguments: '{"code":"1"}' } },
      { type: "response.output_item.done", item: { type: "custom_tool_call", name: "python", input: "1" } },
      { type: "response.completed", response: {} },
    ];
    expect(callsIn(openaiResponses, events)).toEqual([PYTHON, { ...PYTHON, arguments: "1" }]);
  });

  test("in Messages", () => {
    const events = [
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", name: "python", input: {} } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"code"' } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: ':"1"}' } },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ];
    expect(callsIn(anthropicMessages, events)).toEqual([PYTHON]);
  });

  test("in Gemini, also where it is malformed", () => {
    const of = (candidate: Fields): Fields => ({ candidates: [candidate] });
    const parts = [{ functionCall: { name: "python", args: { code: "1" } } }];
    expect(callsIn(gemini, [of({ content: { parts }, finishReason: "STOP" })])).toEqual([PYTHON]);
    const malformed = of({ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "Malformed function call: f(" });
    expect(callsIn(gemini, [malformed])).toEqual([
      { type: "tool-call", name: "", arguments: "Malformed function call: f(" },
    ]);
  });

  test("in Ollama's own protocol", () => {
    const message = { content: "", tool_calls: [{ function: { name: "python", arguments: { code: "1" } } }] };
    expect(callsIn(ollamaChat, [{ message }, { done: true, done_reason: "stop" }])).toEqual([PYTHON]);
  });

  test("of a model object", async () => {
    const finish = { type: "finish", finishReason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } };
    const call = { type: "tool-call", toolCallId: "1", toolName: "python", input: '{"code":"1"}' };
    const backend = new LanguageModelBackend(createLanguageModel("v2", () => [call, finish]));
    const parts: StreamPart[] = [];
    for await (const part of backend.stream(aRequest(), { signal: new AbortController().signal })) parts.push(part);
    expect(parts).toContainEqual(PYTHON);
  });
});

test("calls that are too many or too long are cut, and odd ones do no harm", () => {
  const calls = new ToolCalls();
  for (let n = 0; n < 100; n += 1) calls.add(n, `f${n}`, "x".repeat(600_000));
  for (let n = 0; n < 10; n += 1) calls.add(0, 5, { a: null });
  const taken = calls.take();
  expect(taken).toHaveLength(16);
  calls.add(0, undefined, "y".repeat(2_000_000));
  calls.add(0, null, "z");
  expect(calls.take()).toEqual([{ type: "tool-call", name: "", arguments: "y".repeat(2_000_000) }]);
  const odd: Fields[] = [chat({ tool_calls: [null, 5, { function: 7 }], function_call: 3 }), chat({}, "tool_calls")];
  expect(callsIn(openaiChat, odd).every((part) => part.type === "tool-call")).toBe(true);
});
