// Answers of backends, paid from the ledger: each is reserved before it is asked for, and settled with what it used.
//
// However a call ends, its reservation is released and its usage is counted. The usage of a call that we end early, because its
// first block of code is complete, is not reported by providers: it is estimated and marked as such.

import type { BackendRequest } from "../../backends/backend.ts";
import type { CallPart } from "../../backends/dispatch/call.ts";
import { BackendConnectionError } from "../../errors.ts";
import type { ModelCallStart, RunEvent } from "../../protocol/run-events.ts";
import { addUsage, type ModelUsage } from "../../protocol/usage.ts";
import type { EventEmitter } from "../events/event-emitter.ts";
import type { ReservedCall } from "../ledger/account.ts";
import { ChargedCall } from "../ledger/charged-call.ts";
import { type CallRequest, maxUsageOf } from "../ledger/max-usage.ts";
import type { TokenEstimator } from "../ledger/token-estimate.ts";
import type { Models } from "../ports.ts";
import type { RunSettings } from "../run-context.ts";
import type { ModelCall, Reply } from "./model-calls.ts";
import { OutputLimits, type OutputCall, type OutputLimit } from "./output-limits.ts";
import { roleOf } from "../models/role-of.ts";

export interface OpenCall {
  readonly call: ModelCall;
  readonly request: BackendRequest;
  readonly callId: string;
  /** What was charged so far, also where the call fails. */
  usage: ModelUsage;
}

export interface PaidAnswersOptions {
  readonly models: Models;
  readonly events: EventEmitter;
  readonly strategyOf: RunSettings["strategyOf"];
  readonly estimator: TokenEstimator;
}

/** Why a call waits, and how long. */
type Wait = Pick<Extract<RunEvent, { type: "model-call-wait" }>, "fault" | "delayMs" | "attempts" | "error">;

/** An answer of a backend to be paid for. */
interface AnswerRequest {
  readonly wanted: CallRequest;
  readonly limit: OutputLimit;
}

interface Fetched {
  readonly reply: Reply;
  /** Of this attempt alone. */
  readonly outputTokens: number;
  readonly limit: OutputLimit;
}

/** Calls that may use what is kept for finishing. */
const LAST_CALLS: ReadonlySet<ModelCallStart["purpose"]> = new Set(["extract", "direct"]);
/** A last answer may be shorter than others, rather than none. */
const LEAST_ANSWER_TOKENS = 32;

export class PaidAnswers {
  readonly #models: Models;
  readonly #events: EventEmitter;
  readonly #strategyOf: RunSettings["strategyOf"];
  readonly #estimator: TokenEstimator;
  readonly #limits = new OutputLimits();

  constructor({ models, events, strategyOf, estimator }: PaidAnswersOptions) {
    this.#models = models;
    this.#events = events;
    this.#strategyOf = strategyOf;
    this.#estimator = estimator;
  }

  /** Throws LimitReached, BackendConnectionError or the signal's reason. */
  async fetch(open: OpenCall): Promise<Reply> {
    const { account, model, signal, purpose } = open.call;
    const price = await this.#models.priceOf(model);
    const output = await this.#describe(open);
    const limit = this.#limits.of(output);
    const finishing = LAST_CALLS.has(purpose);
    const leastTokens = finishing ? LEAST_ANSWER_TOKENS : undefined;
    const wanted = { model, inputTokens: output.inputTokens, maxTokens: limit.tokens, price, leastTokens };
    const options = { finishing, signal };
    const reserved = account.reserveCallNow(wanted, options) ?? (await account.reserveCall(wanted, options));
    const fetched = await this.#ask(open, { wanted, limit }, reserved);
    return fetched.reply.finishReason === "length" ? this.#askForMore(open, output, wanted, fetched) : fetched.reply;
  }

  async #describe({ call, request }: OpenCall): Promise<OutputCall> {
    const { account, model, purpose } = call;
    return {
      model,
      purpose,
      inputTokens: this.#estimator.estimate(model, textsOf(request)),
      maxTokens: request.maxTokens,
      isLimited: account.isSpendingLimited,
      facts: await this.#models.factsOf(model),
      strategy: this.#strategyOf(model),
    };
  }

  /** The answer was cut off. It is asked for once more where a larger limit can help and can be paid now, else it stands. */
  async #askForMore(open: OpenCall, output: OutputCall, wanted: CallRequest, cut: Fetched): Promise<Reply> {
    const { reply, outputTokens } = cut;
    const { account, model, signal, purpose, onRestart, onText } = open.call;
    const facts = await this.#models.factsOf(model); // the provider may have refused more
    const limit = this.#limits.more({ ...output, facts }, cut.limit, { text: reply.text, outputTokens });
    if (limit === undefined) return reply;
    const leastTokens = Math.min(limit.tokens, 2 * outputTokens);
    const more = { ...wanted, maxTokens: limit.tokens, leastTokens, llmCalls: 0 };
    const reserved = account.reserveCallNow(more, { finishing: LAST_CALLS.has(purpose), signal });
    if (reserved === undefined) return reply;
    const error = `the answer was cut off after ${outputTokens} tokens`;
    this.#emitWait(open, { fault: "length", delayMs: 0, attempts: 1, error });
    onRestart?.();
    try {
      const { reply: whole } = await this.#ask(open, { wanted: more, limit }, reserved);
      this.#limits.learn(output, limit, whole.finishReason !== "length");
      return whole;
    } catch (error_) {
      if (signal.aborted) throw error_;
      onRestart?.();
      onText?.(reply.text);
      return { ...reply, usage: open.usage };
    }
  }

  async #ask(
    open: OpenCall,
    { wanted, limit }: AnswerRequest,
    { reservation, maxTokens }: ReservedCall,
  ): Promise<Fetched> {
    const { call, request } = open;
    const { account, model, signal, purpose } = call;
    const most = maxUsageOf(wanted, maxTokens);
    const finishing = LAST_CALLS.has(purpose);
    const charged = new ChargedCall(reservation, {
      account,
      model,
      role: roleOf(call),
      price: wanted.price,
      most,
      finishing,
      signal,
    });
    const outcome = await this.#models.call(limit.isSent ? { ...request, maxTokens } : request, {
      signal,
      estimates: this.#estimator.estimatesOf(model, wanted.inputTokens),
      isLimitFirm: account.isSpendingLimited,
      // A node follows them or is told; to anybody else they are no answer.
      toolCalls: purpose === "step" || purpose === "extract" ? "text" : undefined,
      onPart: (part) => this.#onPart(open, part, charged),
      onPause: (pause) => this.#emitWait(open, { ...pause, fault: "rate-limit", error: null }),
      group: this,
      timeLeftMs: () => account.timeLeftMs({ finishing }),
    });
    open.usage = addUsage(open.usage, charged.end(outcome.usage, outcome.attempts));
    if (!outcome.ok) throw outcome.error;
    const { text, reasoning, usage, attempts } = outcome;
    if (usage.estimatedTokens === 0 && attempts === 1) {
      this.#estimator.learn(model, textsOf(request), usage.inputTokens);
      this.#estimator.learnHidden(model, reasoning, usage);
    }
    if (reasoning !== "" || usage.reasoningTokens > 0) this.#limits.sawReasoning(model);
    if (outcome.finishReason === "refusal" && text.trim() === "") throw toRefusal(this.#models.backendOf(model));
    const isCut = outcome.finishReason === "cut";
    const finishReason = outcome.finishReason === "cut" ? "stop" : outcome.finishReason;
    const reply = { text, reasoning, finishReason, isCut, isCached: false, usage: open.usage };
    return { reply, outputTokens: usage.outputTokens, limit: { ...limit, tokens: maxTokens } };
  }

  #emitWait({ call, callId }: OpenCall, wait: Wait): void {
    this.#events.emit({ type: "model-call-wait", nodeId: call.nodeId, callId, ...wait });
  }

  #onPart(open: OpenCall, part: CallPart, charged: ChargedCall): "cut" | undefined | Promise<undefined> {
    const { call, callId } = open;
    if (part.type === "retry") {
      const { delayMs, attempts, error } = part;
      this.#emitWait(open, { delayMs, attempts, fault: error.fault, error: error.message });
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

function textsOf({ messages }: BackendRequest): readonly string[] {
  return messages.map(({ content }) => content);
}

/** `backend`: its name. */
export function toRefusal(backend: string): BackendConnectionError {
  const why = "the model refused to answer";
  return new BackendConnectionError({ backend, fault: "refusal", why, retryable: false });
}
