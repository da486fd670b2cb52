// Model calls of a run: each is reserved in the ledger, answered by the cache or a backend, settled, and reported as events.
//
// However a call ends, its reservation is released and its usage is counted. The usage of a call that we end early, because its
// first block of code is complete, is not reported by providers: it is estimated and marked as such.

import { hash } from "node:crypto";
import type { ModelSettings } from "../../api/models.ts";
import type { BackendRequest, ChatMessage, ModelFacts } from "../../backends/backend.ts";
import type { CallPart } from "../../backends/dispatch/call.ts";
import { worstCostUsd } from "../../backends/prices.ts";
import { BackendConnectionError } from "../../errors.ts";
import type { ModelCallStart } from "../../protocol/run-events.ts";
import type { NodeId } from "../../protocol/runs.ts";
import { NO_USAGE, type CachedAnswer, type ModelUsage } from "../../protocol/usage.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import type { EventEmitter } from "../events/event-emitter.ts";
import { type Account, type MaxUsage, maxUsageOf } from "../ledger/account.ts";
import { ChargedCall } from "../ledger/charged-call.ts";
import { TokenEstimator } from "../ledger/token-estimate.ts";
import type { CallCache, Models } from "../ports.ts";
import type { RunSettings } from "../run-context.ts";
import { SingleFlight } from "./single-flight.ts";

/** Where a call belongs: `ordinal` counts the calls of a step. */
export type CallPosition = Pick<ModelCallStart, "step" | "ordinal">;

export interface ModelCall extends CallPosition {
  readonly nodeId: NodeId;
  readonly account: Account;
  readonly purpose: ModelCallStart["purpose"];
  /** Absent: it is not one of several. */
  readonly batch?: ModelCallStart["batch"] | undefined;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly maxTokens?: number | undefined;
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  /** Receives the text as it arrives. Returning true ends the answer there. */
  readonly onText?: (text: string) => boolean;
  /** The text so far is void: it was reasoning, or the call is attempted again. */
  readonly onRestart?: () => void;
}

export interface Reply extends CachedAnswer {
  readonly isCached: boolean;
  readonly usage: ModelUsage;
}

interface ModelCallsOptions {
  readonly models: Models;
  readonly cache: CallCache | undefined;
  readonly events: EventEmitter;
  readonly strategyOf: RunSettings["strategyOf"];
  /** Of all models in this run, instead of their own. */
  readonly settings?: ModelSettings | undefined;
}

interface OpenCall {
  readonly call: ModelCall;
  readonly request: BackendRequest;
  readonly callId: string;
  /** What was charged so far, also where the call fails. */
  usage: ModelUsage;
}

/** The output tokens, in the strategy of the model, of a call that names no limit. They are held while the call is in flight. */
const MAX_TOKENS = {
  step: "stepTokens",
  query: "queryTokens",
  extract: "extractTokens",
  direct: "directTokens",
} as const satisfies Readonly<Record<ModelCall["purpose"], string>>;
/** Calls that may use what is kept for finishing. */
const LAST_CALLS: ReadonlySet<ModelCall["purpose"]> = new Set(["extract", "direct"]);
/** Why a call waits before its first attempt. */
const PAUSED = { fault: "rate-limit", message: null } as const;
const SHORT_ANSWER_TOKENS = 256;
/** A last answer may be shorter than that, rather than none. */
const LEAST_ANSWER_TOKENS = 32;

export class ModelCalls {
  readonly #models: Models;
  readonly #cache: CallCache | undefined;
  readonly #events: EventEmitter;
  readonly #strategyOf: RunSettings["strategyOf"];
  readonly #settings: ModelSettings;
  readonly #inFlight = new SingleFlight<Reply>();
  readonly #estimator = new TokenEstimator();
  #calls = 0;

  constructor({ models, cache, events, strategyOf, settings = {} }: ModelCallsOptions) {
    this.#models = models;
    this.#cache = cache;
    this.#events = events;
    this.#strategyOf = strategyOf;
    this.#settings = settings;
  }

  /** Throws LimitReached, BackendConnectionError or the signal's reason. */
  async call(call: ModelCall): Promise<Reply> {
    call.signal.throwIfAborted();
    const { nodeId, model, messages, step, ordinal, purpose, batch } = call;
    const request = toRequest(call, { ...this.#models.settingsOf(model), ...this.#settings });
    const requestHash = hashOf(request);
    this.#calls += 1;
    const callId = `c${this.#calls}`;
    const startedAt = performance.now();
    const backend = this.#models.backendOf(model);
    this.#events.emit({
      type: "model-call-start",
      nodeId,
      callId,
      purpose,
      step,
      ordinal,
      backend,
      model,
      requestHash,
      messages,
      ...(batch !== undefined && { batch }),
    });
    const end = (reply: Partial<Reply>, error: string | null): void =>
      this.#events.emit({
        type: "model-call-end",
        nodeId,
        callId,
        ok: error === null,
        text: reply.text ?? "",
        reasoning: reply.reasoning ?? "",
        finishReason: reply.finishReason ?? "",
        isCached: reply.isCached ?? false,
        isCut: reply.isCut ?? false,
        usage: reply.usage ?? NO_USAGE,
        error,
        durationMs: performance.now() - startedAt,
      });
    const open: OpenCall = { call, request, callId, usage: NO_USAGE };
    try {
      const reply =
        this.#cache === undefined ? await this.#fetch(open) : await this.#fetchOnce(open, requestHash, this.#cache);
      end(reply, null);
      return reply;
    } catch (error) {
      end({ usage: open.usage }, (error as Error).message);
      throw error;
    }
  }

  /** What is known of the model now. */
  factsOf(model: string): Promise<ModelFacts> {
    return this.#models.factsOf(model);
  }

  /** The most that a short answer to these messages can use. */
  async shortAnswerUsage(model: string, messages: readonly ChatMessage[]): Promise<MaxUsage> {
    const price = await this.#models.priceOf(model);
    const inputTokens = this.#estimate(model, messages);
    const costUsd = price === undefined ? null : worstCostUsd(price, inputTokens, SHORT_ANSWER_TOKENS);
    return { tokens: inputTokens + SHORT_ANSWER_TOKENS, costUsd };
  }

  /** The first candidate that leaves enough for an answer under the limits, else the last one. For finishing. */
  async firstAffordable(
    model: string,
    account: Account,
    candidates: readonly (readonly ChatMessage[])[],
  ): Promise<readonly ChatMessage[]> {
    const price = await this.#models.priceOf(model);
    const isAffordable = (messages: readonly ChatMessage[]): boolean =>
      account.affordableTokens(this.#estimate(model, messages), price, { finishing: true, model }) >=
      SHORT_ANSWER_TOKENS;
    return candidates.find(isAffordable) ?? candidates.at(-1) ?? [];
  }

  #estimate(model: string, messages: readonly ChatMessage[]): number {
    const texts = messages.map(({ content }) => content);
    return this.#estimator.estimate(model, texts);
  }

  /** From the cache, from an identical call in flight, or from the backend. */
  async #fetchOnce(open: OpenCall, requestHash: string, cache: CallCache): Promise<Reply> {
    const { call } = open;
    const key = hash("sha256", `${this.#models.scopeOf(call.model)} ${requestHash}`);
    const { value, isShared } = await this.#inFlight.run(key, call.signal, async () => {
      const cached = await cache.get(key);
      call.signal.throwIfAborted();
      if (cached !== undefined) return toCachedReply(call, cached);
      const reply = await this.#fetch(open);
      const { text, reasoning, finishReason, isCut } = reply;
      // Another finish reason may be due to what was left of a limit, which is not part of the request.
      if (finishReason === "stop") cache.put(key, { text, reasoning, finishReason, isCut });
      return reply;
    });
    return isShared ? toCachedReply(call, value) : value;
  }

  async #fetch(open: OpenCall): Promise<Reply> {
    const { call, request } = open;
    const { account, model, signal, purpose } = call;
    const price = await this.#models.priceOf(model);
    const texts = request.messages.map(({ content }) => content);
    const inputTokens = this.#estimator.estimate(model, texts);
    const finishing = LAST_CALLS.has(purpose);
    const wanted = {
      model,
      inputTokens,
      maxTokens: request.maxTokens ?? this.#strategyOf(model).calls[MAX_TOKENS[purpose]],
      price,
      leastTokens: finishing ? LEAST_ANSWER_TOKENS : undefined,
    };
    const options = { finishing, signal };
    const { reservation, maxTokens } =
      account.reserveCallNow(wanted, options) ?? (await account.reserveCall(wanted, options));
    const most = maxUsageOf(wanted, maxTokens);
    const charged = new ChargedCall(reservation, { account, model, price, most, finishing, signal });
    const outcome = await this.#models.call(
      { ...request, maxTokens },
      {
        signal,
        estimates: this.#estimator.estimatesOf(model, inputTokens),
        onPart: (part) => this.#onPart(open, part, charged),
      },
    );
    open.usage = charged.end(outcome.usage);
    if (!outcome.ok) throw outcome.error;
    const { text, reasoning, usage, attempts } = outcome;
    if (usage.estimatedTokens === 0 && attempts === 1) {
      this.#estimator.learn(model, texts, usage.inputTokens);
      this.#estimator.learnHidden(model, reasoning, usage);
    }
    if (outcome.finishReason === "refusal" && text.trim() === "") throw toRefusal(this.#models.backendOf(model));
    const isCut = outcome.finishReason === "cut";
    const finishReason = outcome.finishReason === "cut" ? "stop" : outcome.finishReason;
    return { text, reasoning, finishReason, isCut, isCached: false, usage: open.usage };
  }

  #onPart({ call, callId }: OpenCall, part: CallPart, charged: ChargedCall): "cut" | undefined | Promise<undefined> {
    if (part.type === "retry" || part.type === "pause") {
      const { nodeId } = call;
      const { delayMs, attempts } = part;
      const { fault, message } = part.type === "retry" ? part.error : PAUSED;
      this.#events.emit({ type: "model-call-wait", nodeId, callId, fault, delayMs, attempts, error: message });
      if (part.type === "pause") return undefined;
      call.onRestart?.();
      return charged.retry(part.usage);
    }
    if (part.type === "reclassify") {
      call.onRestart?.();
      return part.text !== "" && call.onText?.(part.text) === true ? "cut" : undefined;
    }
    const kind = part.type === "text-delta" ? "text" : "reasoning";
    this.#events.emit({ type: "model-call-delta", nodeId: call.nodeId, callId, text: part.text, kind });
    return kind === "text" && call.onText?.(part.text) === true ? "cut" : undefined;
  }
}

function toCachedReply({ account, model, onText }: ModelCall, answer: CachedAnswer): Reply {
  const { text, reasoning, finishReason, isCut } = answer;
  onText?.(text);
  account.countCached(model);
  return { text, reasoning, finishReason, isCut, isCached: true, usage: { ...NO_USAGE, cachedCalls: 1 } };
}

function toRefusal(backend: string): BackendConnectionError {
  const why = "the model refused to answer";
  return new BackendConnectionError({ backend, fault: "refusal", why, retryable: false });
}

/** All messages of a step are sent again in the next one. */
function toRequest(call: ModelCall, settings: ModelSettings): BackendRequest {
  const { model, messages, schema, purpose, maxTokens = settings.maxTokens } = call;
  const { temperature, seed, reasoningEffort, extraBody } = settings;
  const isRepeated = purpose === "step" || purpose === "extract";
  const stableMessages = isRepeated ? messages.length : undefined;
  const optional = { stableMessages, maxTokens, schema, temperature, seed, reasoningEffort, extraBody };
  return { model, messages, ...omitUndefined(optional) };
}

/** Canonical, since the keys of a request are always created in the same order. */
function hashOf(request: BackendRequest): string {
  return hash("sha256", JSON.stringify(request));
}
