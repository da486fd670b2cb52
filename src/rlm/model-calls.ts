// Asking models in a run: each call is reserved in the ledger first, answered from the cache or by a backend, settled, and told.
//
// However a call ends, what it held is given back and what it spent is counted. A call that is cut short by us, because the
// first block of code was complete, counts what was received.

import { hash as digestOf } from "node:crypto";
import type { BackendRequest, ChatMessage, FinishReason, ModelPrice, TokenUsage } from "../backends/backend.ts";
import type { CallPart } from "../backends/call.ts";
import { BackendConnectionError } from "../errors.ts";
import type { ModelCallStart, NodeId, Spent } from "../protocol/runs.ts";
import { costOf } from "../backends/prices.ts";
import { TokenEstimator } from "./estimate.ts";
import type { Account, Reservation } from "./ledger.ts";
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
  readonly onText?: (text: string) => boolean;
  /** What was heard is void: it is asked again. */
  readonly onRetry?: () => void;
}

export interface Reply extends CachedAnswer {
  readonly isCached: boolean;
  readonly finishReason: FinishReason;
  readonly spent: Spent;
}

/** What a call asks for when nobody says. So much is held back from a limit while it is under way. */
const DEFAULT_MAX_TOKENS: Readonly<Record<Ask["purpose"], number>> = {
  turn: 16_000,
  query: 8_000,
  extract: 8_000,
  direct: 16_000,
};

export class ModelCalls {
  readonly #models: Models;
  readonly #cache: CallCache | undefined;
  readonly #teller: Teller;
  readonly #flying = new Map<string, Promise<Reply>>();
  readonly #estimator = new TokenEstimator();
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
        usage: reply.spent ?? UNSPENT,
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
    ask.onText?.(answer.text);
    ask.account.countCached(ask.model);
    const spent = { ...UNSPENT, cachedCalls: 1 };
    const { text, reasoning, finishReason, isCut } = answer;
    return { text, reasoning, finishReason, isCut, isCached: true, spent };
  }

  async #fetch(ask: Ask, request: BackendRequest, callId: string): Promise<Reply> {
    const { account, model, signal, purpose } = ask;
    const price = await this.#models.priceOf(model);
    const texts = request.messages.map(({ content }) => content);
    const inputTokens = this.#estimator.estimate(model, texts);
    const wanted = { model, inputTokens, maxTokens: request.maxTokens ?? DEFAULT_MAX_TOKENS[purpose], price };
    const { reservation, maxTokens } = await account.reserveCall(wanted, { finishing: purpose === "extract", signal });
    const outcome = await this.#models.call(
      { ...request, maxTokens },
      { signal, onPart: (part) => this.#hear(ask, callId, part) },
    );
    const spent = settle(reservation, model, outcome.usage, price);
    if (!outcome.ok) throw outcome.error;
    if (!outcome.isEstimate && outcome.tries === 1) this.#estimator.learn(model, texts, outcome.usage.inputTokens);
    const { text, reasoning } = outcome;
    if (outcome.finishReason === "refusal" && text.trim() === "") throw refused(this.#models.backendOf(model));
    const isCut = outcome.finishReason === "cut";
    return {
      text,
      reasoning,
      finishReason: outcome.finishReason === "cut" ? "stop" : outcome.finishReason,
      isCut,
      isCached: false,
      spent,
    };
  }

  #hear(ask: Ask, callId: string, part: CallPart): "cut" | undefined {
    if (part.type === "retry") {
      ask.onRetry?.();
      return undefined;
    }
    const kind = part.type === "text-delta" ? "text" : "reasoning";
    this.#teller.tell({ type: "model-call-delta", nodeId: ask.nodeId, callId, text: part.text, kind });
    return kind === "text" && ask.onText?.(part.text) === true ? "cut" : undefined;
  }
}

/** A call that used nothing, because none of its requests came through, is as if it had not been made. */
function settle(reservation: Reservation, model: string, usage: TokenUsage, price: ModelPrice | undefined): Spent {
  if (usage.inputTokens + usage.outputTokens === 0) {
    reservation.release();
    return UNSPENT;
  }
  const costUsd = usage.costUsd ?? (price === undefined ? null : costOf(usage, price));
  return reservation.settle({ model, ...usage, costUsd });
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

/** All that a turn was shown comes again in the next one. */
function toRequest({ model, messages, maxTokens, schema, purpose }: Ask): BackendRequest {
  const stable = purpose === "turn" || purpose === "extract" ? { stableMessages: messages.length } : {};
  return {
    model,
    messages,
    ...stable,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(schema !== undefined && { schema }),
  };
}

/** Canonical: the keys of the request are always made in the same order. */
function hashOf(request: BackendRequest): string {
  return digestOf("sha256", JSON.stringify(request));
}

const UNSPENT: Spent = {
  ...NOTHING,
  tokens: 0,
  costUsd: 0,
  llmCalls: 0,
  toolCalls: 0,
  iterations: 0,
  cachedCalls: 0,
};
