// Model calls of a run: each is answered by the cache or by a backend, which is paid for, and reported as events.

import { hash } from "node:crypto";
import type { ModelSettings } from "../../api/models.ts";
import type { BackendRequest, ChatMessage, ModelFacts } from "../../backends/backend.ts";
import { worstCostUsd } from "../../backends/prices.ts";
import type { BackendConnectionError } from "../../errors.ts";
import type { ModelCallStart } from "../../protocol/run-events.ts";
import type { NodeId } from "../../protocol/runs.ts";
import { NO_USAGE, type CachedAnswer, type ModelUsage } from "../../protocol/usage.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import type { EventEmitter } from "../events/event-emitter.ts";
import type { Account } from "../ledger/account.ts";
import type { MaxUsage } from "../ledger/max-usage.ts";
import { TokenEstimator } from "../ledger/token-estimate.ts";
import { roleOf } from "../models/role-of.ts";
import type { CallCache, Models } from "../ports.ts";
import type { RunSettings } from "../run-context.ts";
import { PaidAnswers, toRefusal, type OpenCall } from "./paid-answers.ts";
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

const SHORT_ANSWER_TOKENS = 256;
export class ModelCalls {
  readonly #models: Models;
  readonly #cache: CallCache | undefined;
  readonly #events: EventEmitter;
  readonly #settings: ModelSettings;
  readonly #inFlight = new SingleFlight<Reply>();
  readonly #estimator = new TokenEstimator();
  readonly #answers: PaidAnswers;
  #calls = 0;

  constructor({ models, cache, events, strategyOf, settings = {} }: ModelCallsOptions) {
    this.#models = models;
    this.#cache = cache;
    this.#events = events;
    this.#settings = settings;
    this.#answers = new PaidAnswers({ models, events, strategyOf, estimator: this.#estimator });
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
        this.#cache === undefined
          ? await this.#answers.fetch(open)
          : await this.#fetchOnce(open, requestHash, this.#cache);
      end(reply, null);
      return reply;
    } catch (error) {
      end({ usage: open.usage }, (error as Error).message);
      throw error;
    }
  }

  /** For a reply in which the model refuses, where that is no answer. */
  refusalOf(model: string): BackendConnectionError {
    return toRefusal(this.#models.backendOf(model));
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

  /** False: the text is known to fill the model's window, or to leave no room for an answer. */
  async fitsWindow(model: string, text: string): Promise<boolean> {
    const { contextWindow = Infinity } = await this.#models.factsOf(model);
    return this.#estimate(model, [{ role: "user", content: text }]) + SHORT_ANSWER_TOKENS <= contextWindow;
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
      const reply = await this.#answers.fetch(open);
      const { text, reasoning, finishReason, isCut } = reply;
      // Another finish reason may be due to what was left of a limit, which is not part of the request.
      if (finishReason === "stop") cache.put(key, { text, reasoning, finishReason, isCut });
      return reply;
    });
    return isShared ? toCachedReply(call, value) : value;
  }
}

function toCachedReply(call: ModelCall, answer: CachedAnswer): Reply {
  const { account, model, onText } = call;
  const { text, reasoning, finishReason, isCut } = answer;
  onText?.(text);
  account.countCached({ model, role: roleOf(call) });
  return { text, reasoning, finishReason, isCut, isCached: true, usage: { ...NO_USAGE, cachedCalls: 1 } };
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
