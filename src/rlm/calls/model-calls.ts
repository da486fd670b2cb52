// Asking models in a run: each call is reserved in the ledger first, answered from the cache or by a backend, settled, and told.
//
// However a call ends, what it held is given back and what it spent is counted. Of a call that is cut short by us, because the
// first block of code was complete and the model went on, nobody tells what it used: that is estimated, and told as an estimate.

import { hash as digestOf } from "node:crypto";
import type { BackendRequest, ChatMessage, FinishReason } from "../../backends/backend.ts";
import type { CallPart } from "../../backends/dispatch/call.ts";
import { BackendConnectionError } from "../../errors.ts";
import type { ModelCallStart, NodeId, Spent } from "../../protocol/runs.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { ChargedCall, UNSPENT } from "../ledger/charged-call.ts";
import { toCallAmounts } from "../ledger/call-amounts.ts";
import { TokenEstimator, worstCostUsd } from "../ledger/token-estimate.ts";
import type { Account } from "../ledger/ledger.ts";
import type { CachedAnswer, CallCache, Models } from "../ports.ts";
import type { Teller } from "../events/event-emitter.ts";

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

interface ModelCallsOptions {
  readonly models: Models;
  readonly cache: CallCache | undefined;
  readonly teller: Teller;
  readonly reasoningEffort?: string | undefined;
}

/** One that is under way. `bill`: what it has come to, also where it fails. */
interface Call {
  readonly ask: Ask;
  readonly request: BackendRequest;
  readonly callId: string;
  readonly bill: { spent: Spent };
}

/** What a call asks for when nobody says. So much is held back from a limit while it is under way. */
const DEFAULT_MAX_TOKENS: Readonly<Record<Ask["purpose"], number>> = {
  turn: 16_000,
  query: 8_000,
  extract: 8_000,
  direct: 16_000,
};
/** After these there is nothing that something would have to be kept for. */
const LAST_CALLS: ReadonlySet<Ask["purpose"]> = new Set(["extract", "direct"]);
const SHORT_ANSWER_TOKENS = 256;
/** A last answer may be shorter than that, rather than none. */
const LEAST_ANSWER_TOKENS = 32;

export class ModelCalls {
  readonly #models: Models;
  readonly #cache: CallCache | undefined;
  readonly #teller: Teller;
  /** Of every request. */
  readonly #common: Pick<BackendRequest, "reasoningEffort">;
  readonly #flying = new Map<string, Promise<Reply>>();
  readonly #estimator = new TokenEstimator();
  #made = 0;

  constructor({ models, cache, teller, reasoningEffort }: ModelCallsOptions) {
    this.#models = models;
    this.#cache = cache;
    this.#teller = teller;
    this.#common = omitUndefined({ reasoningEffort });
  }

  /** Throws LimitReached, BackendConnectionError or the signal's reason. */
  async ask(ask: Ask): Promise<Reply> {
    ask.signal.throwIfAborted();
    const { nodeId, model, messages, turn, ordinal, purpose } = ask;
    const request = { ...toRequest(ask, ask.maxTokens), ...this.#common };
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
    const call = { ask, request, callId, bill: { spent: UNSPENT } };
    try {
      const reply = await this.#answer(call, requestHash);
      end(reply, null);
      return reply;
    } catch (error) {
      end(call.bill, (error as Error).message);
      throw error;
    }
  }

  /** What a short answer to these messages can take at most. */
  async worstOf(model: string, messages: readonly ChatMessage[]): Promise<{ tokens: number; costUsd: number | null }> {
    const price = await this.#models.priceOf(model);
    const inputTokens = this.#estimate(model, messages);
    const costUsd = price === undefined ? null : worstCostUsd(price, inputTokens, SHORT_ANSWER_TOKENS);
    return { tokens: inputTokens + SHORT_ANSWER_TOKENS, costUsd };
  }

  /** The first of these, from one of them on, that leaves room for an answer under the limits; else the last. For finishing. */
  async firstAffordable(
    model: string,
    account: Account,
    candidates: readonly (readonly ChatMessage[])[],
    from = 0,
  ): Promise<readonly ChatMessage[]> {
    const price = await this.#models.priceOf(model);
    const isAffordable = (messages: readonly ChatMessage[]): boolean =>
      account.affordableTokens(this.#estimate(model, messages), price, { finishing: true, model }) >=
      SHORT_ANSWER_TOKENS;
    return candidates.slice(from).find(isAffordable) ?? candidates.at(-1) ?? [];
  }

  #estimate(model: string, messages: readonly ChatMessage[]): number {
    return this.#estimator.estimate(
      model,
      messages.map(({ content }) => content),
    );
  }

  /** From the cache, together with the same call that is under way, or from the backend. */
  #answer(call: Call, hash: string): Promise<Reply> {
    return this.#cache === undefined ? this.#fetch(call) : this.#share(call, hash, this.#cache);
  }

  async #share(call: Call, hash: string, cache: CallCache): Promise<Reply> {
    const { ask } = call;
    const key = digestOf("sha256", `${this.#models.scope} ${hash}`);
    for (let flying = this.#flying.get(key); flying !== undefined; flying = this.#flying.get(key)) {
      const answer = await orAborted(flying.catch(toSharedError), ask.signal);
      if (answer !== undefined) return this.#settleCached(ask, answer);
    }
    const answering = this.#lookOrFetch(call, key, cache);
    this.#flying.set(key, answering);
    try {
      return await answering;
    } finally {
      this.#flying.delete(key);
    }
  }

  async #lookOrFetch(call: Call, key: string, cache: CallCache): Promise<Reply> {
    const cached = await cache.get(key);
    call.ask.signal.throwIfAborted();
    if (cached !== undefined) return this.#settleCached(call.ask, cached);
    const reply = await this.#fetch(call);
    const { text, reasoning, finishReason, isCut } = reply;
    // One that was cut off may have been so by what was left of a limit, which is no part of the request.
    if (finishReason === "stop") cache.put(key, { text, reasoning, finishReason, isCut });
    return reply;
  }

  async #settleCached(ask: Ask, answer: CachedAnswer): Promise<Reply> {
    ask.onText?.(answer.text);
    ask.account.countCached(ask.model);
    const spent = { ...UNSPENT, cachedCalls: 1 };
    const { text, reasoning, finishReason, isCut } = answer;
    return { text, reasoning, finishReason, isCut, isCached: true, spent };
  }

  async #fetch({ ask, request, callId, bill }: Call): Promise<Reply> {
    const { account, model, signal, purpose } = ask;
    const price = await this.#models.priceOf(model);
    const texts = request.messages.map(({ content }) => content);
    const inputTokens = this.#estimator.estimate(model, texts);
    const finishing = LAST_CALLS.has(purpose);
    const wanted = {
      model,
      inputTokens,
      maxTokens: request.maxTokens ?? DEFAULT_MAX_TOKENS[purpose],
      price,
      leastTokens: finishing ? LEAST_ANSWER_TOKENS : undefined,
    };
    const options = { finishing, signal };
    const { reservation, maxTokens } =
      account.reserveCallNow(wanted, options) ?? (await account.reserveCall(wanted, options));
    const amounts = toCallAmounts(wanted, maxTokens);
    const charged = new ChargedCall(reservation, { account, model, price, amounts, finishing, signal });
    const outcome = await this.#models.call(
      { ...request, maxTokens },
      {
        signal,
        estimates: this.#estimator.estimatesOf(model, inputTokens),
        onPart: (part) => this.#hear(ask, callId, part, charged),
      },
    );
    const spent = charged.end(outcome.usage);
    bill.spent = spent;
    if (!outcome.ok) throw outcome.error;
    const { text, reasoning, usage, tries } = outcome;
    if ((usage.estimatedTokens ?? 0) === 0 && tries === 1) {
      this.#estimator.learn(model, texts, usage.inputTokens);
      this.#estimator.learnHidden(model, reasoning, usage);
    }
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

  #hear(ask: Ask, callId: string, part: CallPart, call: ChargedCall): "cut" | undefined | Promise<undefined> {
    if (part.type === "retry") {
      ask.onRetry?.();
      return call.tryAgain(part.usage);
    }
    const kind = part.type === "text-delta" ? "text" : "reasoning";
    this.#teller.tell({ type: "model-call-delta", nodeId: ask.nodeId, callId, text: part.text, kind });
    return kind === "text" && ask.onText?.(part.text) === true ? "cut" : undefined;
  }
}

/** What a backend did wrong is everybody's; limits and signals are those of whoever asked first. */
function toSharedError(error: unknown): undefined {
  if (error instanceof BackendConnectionError) throw error;
}

/** Who waits for the call of another gives up when it is told to. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let unlisten = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    unlisten = onAbort(signal, () => reject(signal.reason as Error));
  });
  return Promise.race([work, aborted]).finally(unlisten);
}

function refused(backend: string): BackendConnectionError {
  return new BackendConnectionError({
    backend,
    fault: "refusal",
    why: "the model refused to answer",
    retryable: false,
  });
}

/** All that a turn was shown comes again in the next one. */
function toRequest({ model, messages, schema, purpose }: Ask, maxTokens: number | undefined): BackendRequest {
  const request: { -readonly [Name in keyof BackendRequest]: BackendRequest[Name] } = { model, messages };
  if (purpose === "turn" || purpose === "extract") request.stableMessages = messages.length;
  if (maxTokens !== undefined) request.maxTokens = maxTokens;
  if (schema !== undefined) request.schema = schema;
  return request;
}

/** Canonical: the keys of the request are always made in the same order. */
function hashOf(request: BackendRequest): string {
  return digestOf("sha256", JSON.stringify(request));
}
