// Tools called by the code of a node: counted, checked and reported as events. Errors of a tool are results for the code.

import type { NodeId } from "../../protocol/runs.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { orAborted } from "../../util/async/or-aborted.ts";
import type { EventEmitter } from "../events/event-emitter.ts";
import type { Account } from "../ledger/account.ts";
import { LimitReached } from "../ledger/limit-reached.ts";

export interface ToolCall {
  readonly nodeId: NodeId;
  readonly account: Account;
  readonly tools: ToolRegistry;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** The shape that the Python side reads. */
interface ToolReply {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: string;
  readonly kind?: string;
}

const MAX_ERROR_CHARACTERS = 4_000;

export class ToolCalls {
  readonly #events: EventEmitter;
  readonly #onLimit: (limit: LimitReached) => void;
  #calls = 0;

  constructor(events: EventEmitter, onLimit: (limit: LimitReached) => void) {
    this.#events = events;
    this.#onLimit = onLimit;
  }

  /** Never rejects. Does not wait for a handler once the signal is aborted. */
  async call({ nodeId, account, tools, tool, args, signal }: ToolCall): Promise<ToolReply> {
    try {
      account.countToolCall();
    } catch (error) {
      if (error instanceof LimitReached) this.#onLimit(error);
      return { ok: false, error: (error as Error).message, kind: "limit" };
    }
    this.#calls += 1;
    const callId = `t${this.#calls}`;
    const startedAt = performance.now();
    this.#events.emit({ type: "tool-call-start", nodeId, callId, tool, args });
    const reply = await toReply(() => tools.call(tool, args, { signal }), signal);
    const durationMs = performance.now() - startedAt;
    const { ok, value, error } = reply;
    this.#events.emit({ type: "tool-call-end", nodeId, callId, ok, result: ok ? value : error, durationMs });
    return reply;
  }
}

async function toReply(work: () => Promise<unknown>, signal: AbortSignal): Promise<ToolReply> {
  try {
    return { ok: true, value: await orAborted(work(), signal) };
  } catch (error) {
    const { message, name } = error instanceof Error ? error : new Error(String(error));
    return { ok: false, error: message.slice(0, MAX_ERROR_CHARACTERS), kind: name };
  }
}
