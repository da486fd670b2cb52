// Calls of tools that a model makes although it was offered none, put together from the pieces in which they stream.

import type { ToolCallPart } from "../../backend.ts";

/** What is beyond is dropped: a call that long cannot be followed anyway. */
const MAX_CALLS = 16;
const MAX_CHARACTERS = 1_000_000;
const MAX_NAME = 200;

export class ToolCalls {
  readonly #calls = new Map<unknown, { name: string; arguments: string }>();

  /** A piece of the call with this key. What is absent adds nothing. */
  add(key: unknown, name: unknown, piece: unknown): void {
    let call = this.#calls.get(key);
    if (call === undefined) {
      if (this.#calls.size >= MAX_CALLS) return;
      call = { name: "", arguments: "" };
      this.#calls.set(key, call);
    }
    if (typeof name === "string") call.name = (call.name + name).slice(0, MAX_NAME);
    if (call.arguments.length < MAX_CHARACTERS) call.arguments += toText(piece);
  }

  /** The calls so far, each once. */
  take(): ToolCallPart[] {
    const parts = [...this.#calls.values()].map((call): ToolCallPart => ({ type: "tool-call", ...call }));
    this.#calls.clear();
    return parts;
  }
}

/** One that came in one piece. */
export function toToolCall(name: unknown, args: unknown): ToolCallPart[] {
  const calls = new ToolCalls();
  calls.add("", name, args);
  return calls.take();
}

function toText(piece: unknown): string {
  if (piece === undefined || piece === null) return "";
  return typeof piece === "string" ? piece : JSON.stringify(piece);
}
