// Asking models in a run: each call is reserved in the ledger first, answered from the cache or by a backend, settled, and told.
//
// However a call ends, what it held is given back and what it spent is counted. A call that is cut short by us, because the
// first block of code was complete, counts what was received.

import { createHash } from "node:crypto";
import type { BackendRequest, ChatMessage, FinishReason, ModelPrice, TokenUsage } from "../backends/backend.ts";
import { BackendConnectionError } from "../errors.ts";
import type { ModelCallStart, NodeId, Spent } from "../protocol/runs.ts";
import { estimateTokens } from "./estimate.ts";
import type { Account } from "./ledger.ts";
import type { CachedAnswer, CallCache, Models } from "./ports.ts";
import type { Teller } from "./teller.ts";

export interface Ask {
  readonly nodeId: NodeId;
  readonly account: Account;
  readonly purpose: ModelCallStart["purpose"];
  readonly turn: number;
  readonly ordinal: number;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly maxTokens?: number | undefined;
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  /** Hears the text as it comes; true: that is enough. */
  readonly onText?: (text: string) => Promise<boolean> | boolean;
}

export interface Reply extends CachedAnswer {
  readonly isCached: boolean;
  readonly usage: TokenUsage;
}

/** What a call asks for when nobody says: room for a long block of code and some thinking. */
const DEFAULT_MAX_TOKENS = 16_000;
/** With less an answer is not worth asking for. */
const LEAST_TOKENS = 64;

export class ModelCalls {
  readonly #models: Models;
  readonly #cache: CallCache | undefined;
  readonly #teller: Teller;
  readonly #flying = new Map<string, Promise<Reply>>();
  #made = 0;

  constructor(models: Models, cache: CallCache | undefined, teller: Teller) {
    this.#models = models;
    this.#cache = cache;
    this.#teller = teller;
  }

  /** Throws LimitReached, BackendConnectionError or the signal's reason. */
  async ask(ask: Ask): Promise<Reply> {
    ask.signal.throwIfAborted();
    const { nodeId, model, messages, turn, ordinal, purpose } = ask;
    const request = toRequest(ask);
    const requestHash = hashOf(request);
    this.#made += 1;
    const callId = `c${this.#made}`;
    const startedAt = performance.now();
    const backend = this.#models.backendOf(model);
    this.#teller.tell({
      type: "model-call-start",
      nodeId,
      callId,
      purpose,
      turn,
      ordinal,
      backend,
      model,
      requestHash,
      messages,
    });
    const end = (reply: Partial<Reply>, error: string | null): void =>
      this.#teller.tell({
        type: "model-call-end",
        nodeId,
        callId,
        ok: error === null,
        text: reply.text ?? "",
        reasoning: reply.reasoning ?? "",
        finishReason: reply.finishReason ?? "",
        isCached: reply.isCached ?? false,
        isCut: reply.isCut ?? false,
        usage: toSpent(reply),
        error,
        durationMs: performance.now() - startedAt,
      });
    try {
      const reply = await this.#answer(ask, request, requestHash, callId);
      end(reply, null);
      return reply;
    } catch (error) {
      end({}, (error as Error).message);
      throw error;
    }
  }

  /** From the cache, together with the same call that is under way, or from the backend. */
  async #answer(ask: Ask, request: BackendRequest, hash: string, callId: string): Promise<Reply> {
    if (this.#cache === undefined) return this.#fetch(ask, request, callId);
    const cached = await this.#cache.get(hash);
    if (cached !== undefined) return this.#settleCached(ask, cached);
    const flying = this.#flying.get(hash);
    if (flying !== undefined) {
      const reply = await flying.catch(() => undefined);
      if (reply !== undefined) return this.#settleCached(ask, reply);
    }
    const fetching = this.#fetch(ask, request, callId);
    this.#flying.set(hash, fetching);
    try {
      const reply = await fetching;
      this.#cache.put(hash, {
        text: reply.text,
        reasoning: reply.reasoning,
        finishReason: reply.finishReason,
        isCut: reply.isCut,
      });
      return reply;
    } finally {
      if (this.#flying.get(hash) === fetching) this.#flying.delete(hash);
    }
  }

  async #settleCached(ask: Ask, answer: CachedAnswer): Promise<Reply> {
    await ask.onText?.(answer.text);
    ask.account.countCached(ask.model);
    const { text, reasoning, finishReason, isCut } = answer;
    return { text, reasoning, finishReason, isCut, isCached: true, usage: NOTHING };
  }

  async #fetch(ask: Ask, request: BackendRequest, callId: string): Promise<Reply> {
    const { account, model, purpose } = ask;
    const price = await this.#models.priceOf(model);
    const finishing = purpose === "extract";
    const input = estimateTokens(request.messages.map(({ content }) => content).join("\n"), model);
    const wanted = request.maxTokens ?? DEFAULT_MAX_TOKENS;
    const maxTokens = Math.max(LEAST_TOKENS, Math.min(wanted, account.affordableTokens(input, price, { finishing })));
    const reservation = account.reserve(
      { llmCalls: 1, tokens: input + maxTokens, costUsd: toMostCost(price, input, maxTokens) },
      { finishing },
    );
    const received = {
      text: "",
      reasoning: "",
      isCut: false,
      finishReason: "other" as FinishReason,
      usage: null as TokenUsage | null,
    };
    try {
      await this.#receive(ask, { ...request, maxTokens }, callId, received);
      const usage = received.usage ?? estimateUsage(input, received, model);
      reservation.settle({ model, ...usage, costUsd: usage.costUsd ?? toCost(usage, price) });
      return { ...received, isCached: false, usage };
    } catch (error) {
      if (received.text === "" && received.reasoning === "") reservation.release();
      else {
        const usage = estimateUsage(input, received, model);
        reservation.settle({ model, ...usage, costUsd: toCost(usage, price) });
      }
      throw error;
    }
  }

  async #receive(ask: Ask, request: BackendRequest, callId: string, received: Received): Promise<void> {
    const { nodeId, signal, onText } = ask;
    for await (const part of this.#models.stream(request, { signal })) {
      if (part.type === "end") {
        received.finishReason = part.finishReason;
        received.usage = part.usage;
        if (part.finishReason === "refusal" && received.text.trim() === "")
          throw refused(this.#models.backendOf(ask.model));
        return;
      }
      const kind = part.type === "text-delta" ? "text" : "reasoning";
      received[kind] += part.text;
      this.#teller.tell({ type: "model-call-delta", nodeId, callId, text: part.text, kind });
      if (kind === "text" && (await onText?.(part.text)) === true) {
        received.isCut = true;
        received.finishReason = "stop";
        return; // leaving the loop ends the call
      }
    }
    throw new BackendConnectionError({
      backend: this.#models.backendOf(ask.model),
      fault: "connection",
      why: "the answer broke off",
      retryable: true,
    });
  }
}

interface Received {
  text: string;
  reasoning: string;
  isCut: boolean;
  finishReason: FinishReason;
  usage: TokenUsage | null;
}

const NOTHING: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

function refused(backend: string): BackendConnectionError {
  return new BackendConnectionError({
    backend,
    fault: "refusal",
    why: "the model refused to answer",
    retryable: false,
  });
}

function toRequest({ model, messages, maxTokens, schema }: Ask): BackendRequest {
  return { model, messages, ...(maxTokens !== undefined && { maxTokens }), ...(schema !== undefined && { schema }) };
}

/** Canonical: the keys of the request are always made in the same order. */
function hashOf(request: BackendRequest): string {
  return createHash("sha256").update(JSON.stringify(request)).digest("hex");
}

function estimateUsage(input: number, { text, reasoning }: Received, model: string): TokenUsage {
  const reasoningTokens = reasoning === "" ? 0 : estimateTokens(reasoning, model);
  return {
    ...NOTHING,
    inputTokens: input,
    outputTokens: estimateTokens(text, model) + reasoningTokens,
    reasoningTokens,
  };
}

function toMostCost(price: ModelPrice | undefined, input: number, output: number): number | null {
  if (price === undefined) return null;
  return (input * Math.max(price.inputUsd, price.cacheWriteUsd) + output * price.outputUsd) / 1e6;
}

function toCost(usage: TokenUsage, price: ModelPrice | undefined): number | null {
  if (price === undefined) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  return (
    (plain * price.inputUsd +
      cacheReadTokens * price.cacheReadUsd +
      cacheWriteTokens * price.cacheWriteUsd +
      outputTokens * price.outputUsd) /
    1e6
  );
}

function toSpent({ usage = NOTHING, isCached = false }: Partial<Reply>): Spent {
  return {
    ...usage,
    tokens: usage.inputTokens + usage.outputTokens,
    costUsd: usage.costUsd ?? null,
    llmCalls: isCached ? 0 : 1,
    toolCalls: 0,
    iterations: 0,
    cachedCalls: isCached ? 1 : 0,
  };
}
