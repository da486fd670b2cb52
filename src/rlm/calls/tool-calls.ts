// Tools called by code of a node: counted, checked, told, bounded. What a tool does wrong is told to the code.

import type { NodeId } from "../../protocol/runs.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Account } from "../ledger/ledger.ts";
import { LimitReached } from "../ledger/limit-reached.ts";
import type { Teller } from "../events/event-emitter.ts";

export interface ToolCall {
  readonly nodeId: NodeId;
  readonly account: Account;
  readonly tools: ToolRegistry;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** As Python reads it. */
interface ToolReply {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: string;
  readonly kind?: string;
}

const MAX_ERROR_CHARACTERS = 4_000;

export class ToolCalls {
  readonly #teller: Teller;
  readonly #onLimit: (limit: LimitReached) => void;
  #made = 0;

  constructor(teller: Teller, onLimit: (limit: LimitReached) => void) {
    this.#teller = teller;
    this.#onLimit = onLimit;
  }

  /** Never rejects. Waits for no handler once the signal is aborted. */
  async call({ nodeId, account, tools, tool, args, signal }: ToolCall): Promise<ToolReply> {
    try {
      account.reserveTool();
    } catch (error) {
      if (error instanceof LimitReached) this.#onLimit(error);
      return { ok: false, error: (error as Error).message, kind: "limit" };
    }
    this.#made += 1;
    const callId = `t${this.#made}`;
    const startedAt = performance.now();
    this.#teller.tell({ type: "tool-call-start", nodeId, callId, tool, args });
    const reply = await answer(() => tools.call(tool, args, { signal }), signal);
    const durationMs = performance.now() - startedAt;
    const { ok, value, error } = reply;
    this.#teller.tell({ type: "tool-call-end", nodeId, callId, ok, result: ok ? value : error, durationMs });
    return reply;
  }
}

async function answer(work: () => Promise<unknown>, signal: AbortSignal): Promise<ToolReply> {
  try {
    return { ok: true, value: await orAborted(work(), signal) };
  } catch (error) {
    const { message, name } = error instanceof Error ? error : new Error(String(error));
    return { ok: false, error: message.slice(0, MAX_ERROR_CHARACTERS), kind: name };
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let unlisten = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    unlisten = onAbort(signal, () => reject(signal.reason as Error));
  });
  work.catch(() => {}); // nobody may be left who waits for it
  return Promise.race([work, aborted]).finally(unlisten);
}
