// A backend that answers from a script: for tests, demos and work without a network.
//
// Deterministic. Without a configured delay it uses neither timers nor sockets.

import { BackendConnectionError } from "../../errors.ts";
import { orAborted } from "../../util/async/or-aborted.ts";
import type { ReportedUsage } from "../../protocol/usage.ts";
import { sleep } from "../dispatch/clock.ts";
import type { BackendRequest, StreamPart } from "../backend.ts";
import type { Script, ScriptedAnswer, ScriptedBackend as Contract, ScriptedFault, ScriptedReply } from "./script.ts";

const DELTA_CHARACTERS = 24;

export class ScriptedBackend implements Contract {
  readonly name: string;
  readonly sharesSignals = true;
  readonly #script: Script;
  #calls = 0;

  /** A list is answered in order; a call past its end is a `configuration` fault. */
  constructor(script: Script | readonly ScriptedReply[], options: { readonly name?: string } = {}) {
    this.name = options.name ?? "scripted";
    this.#script = typeof script === "function" ? script : inOrder(script, this.name);
  }

  /** Calls so far. */
  get calls(): number {
    return this.#calls;
  }

  async *stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
    const { signal } = options;
    signal.throwIfAborted();
    const scripted = this.#script(request, this.#calls++);
    const reply = scripted instanceof Promise ? await orAborted(scripted, signal) : scripted;
    const answer = typeof reply === "string" ? { text: reply } : reply;
    if (answer.delayMs !== undefined && answer.delayMs > 0) await sleep(answer.delayMs, signal);
    if (answer.rateLimits !== undefined) yield { type: "response-start", rateLimits: answer.rateLimits };
    for (const text of piecesOf(answer.reasoning ?? "")) {
      signal.throwIfAborted();
      yield { type: "reasoning-delta", text };
    }
    for (const text of piecesOf(answer.text ?? "")) {
      signal.throwIfAborted();
      yield { type: "text-delta", text };
    }
    signal.throwIfAborted();
    if (answer.error !== undefined) throw this.#toError(answer.error);
    yield { type: "end", finishReason: answer.finishReason ?? "stop", usage: usageOf(request, answer) };
  }

  #toError(error: ScriptedFault | Error): Error {
    if (error instanceof Error) return error;
    const { fault, why = "so the script says", status = null, retryable = false, retryAfterMs = null } = error;
    return new BackendConnectionError({ backend: this.name, fault, why, status, retryable, retryAfterMs });
  }
}

function inOrder(answers: readonly ScriptedReply[], backend: string): Script {
  return (_, n) => {
    const answer = answers[n];
    if (answer !== undefined) return answer;
    const why = `the script has ${answers.length} answers, and this is call ${n + 1}`;
    throw new BackendConnectionError({ backend, fault: "configuration", why, retryable: false });
  };
}

/** Surrogate pairs are never split. */
function* piecesOf(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + DELTA_CHARACTERS);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++;
    yield text.slice(start, end);
    start = end;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function usageOf(request: BackendRequest, answer: ScriptedAnswer): ReportedUsage | null {
  if (answer.usage === null) return null;
  const reasoningTokens = toTokens(answer.reasoning ?? "");
  const outputTokens = toTokens(answer.text ?? "") + reasoningTokens;
  const estimate = {
    inputTokens: toTokens(request.messages.map(({ content }) => content).join("")),
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens,
  };
  return answer.usage === undefined ? estimate : { ...estimate, ...answer.usage };
}

/** Four bytes of UTF-8 to a token, as in English prose. */
function toTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}
