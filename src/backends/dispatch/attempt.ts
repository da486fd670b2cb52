// One request to a backend, and what it came to: an answer or an error, and in either case what was used.

import { BackendConnectionError } from "../../errors.ts";
import type { Backend, BackendRequest, FinishReason, InputUsagePart, StreamPart } from "../backend.ts";
import type { CallOptions, Estimates } from "./call.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { NO_USAGE, toModelUsage, type ModelUsage, type ReportedUsage } from "../../protocol/usage.ts";
import { estimateInputTokens, estimateTokens } from "../estimate-tokens.ts";

interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: FinishReason | "cut";
}

/** More than any model says; what sends more is no model. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** An answer that is complete for us may be so for the model. For its end, which tells what was used, so long is waited. */
const END_MS = 250;
/** What a model has said by the time it learns that nobody listens. */
const TOKENS_ON_THE_WAY = 32;
const MAX_BLANK = 1000;

/** A reason of its own for every call would cost more than the rest of it. */
const OVER = new Error("The call is over");

export class Try {
  readonly #backend: Backend;
  readonly #request: BackendRequest;
  readonly #estimates: Estimates;
  #text = "";
  #reasoning = "";
  /** What came after the cut. */
  #unwanted = "";
  #hiddenTokens = 0;
  #inputUsage: InputUsagePart["usage"] | null = null;
  #told: ReportedUsage | null = null;
  #finishReason: FinishReason | "cut" = "other";
  #error: unknown = null;
  #isAsked = false;

  constructor(backend: Backend, request: BackendRequest, estimates: Estimates = estimatesOf(request)) {
    this.#backend = backend;
    this.#request = request;
    this.#estimates = estimates;
  }

  /** Null: there is an answer. */
  get error(): unknown {
    return this.#error;
  }

  get answer(): Answer {
    return { text: this.#text, reasoning: this.#reasoning, finishReason: this.#finishReason };
  }

  get usage(): ModelUsage {
    if (this.#told !== null) return toModelUsage(this.#told);
    if (!this.#usedAnything()) return NO_USAGE;
    const inputTokens = this.#inputUsage?.inputTokens ?? this.#estimates.inputTokens;
    const { outputTokens, reasoningTokens } = this.#estimateOutput();
    const estimatedTokens = outputTokens + (this.#inputUsage === null ? inputTokens : 0);
    const { cacheReadTokens = 0, cacheWriteTokens = 0 } = this.#inputUsage ?? {};
    const cached = { cacheReadTokens, cacheWriteTokens };
    return toModelUsage({ inputTokens, ...cached, outputTokens, reasoningTokens, estimatedTokens });
  }

  /** Never more than was asked for: so much a provider does not bill. */
  #estimateOutput(): Pick<ModelUsage, "outputTokens" | "reasoningTokens"> {
    const { tokensOf, hiddenTokens } = this.#estimates;
    const most = this.#request.maxTokens ?? Infinity;
    const said = tokensOf(this.#text + this.#unwanted);
    const told = Number.isFinite(Math.min(this.#hiddenTokens, most)) ? this.#hiddenTokens : 0;
    const thought = Math.max(told, tokensOf(this.#reasoning) + hiddenTokens);
    const reasoningTokens = Math.min(Math.max(0, most - said), thought);
    const onTheWay = this.#finishReason === "cut" ? TOKENS_ON_THE_WAY : 0;
    return { outputTokens: Math.min(most, said + reasoningTokens + onTheWay), reasoningTokens };
  }

  /** Never rejects: see `error`. Once. After an abort it waits for nobody, not even for a backend that does not listen. */
  async run(options: CallOptions): Promise<void> {
    const { signal } = options;
    const own = this.#backend.sharesSignals === true ? undefined : new AbortController();
    let unlisten = (): void => {};
    try {
      signal.throwIfAborted();
      this.#isAsked = true;
      await new Promise<void>((resolve, reject) => {
        unlisten = onAbort(signal, () => {
          own?.abort(signal.reason);
          reject(signal.reason as Error);
        });
        this.#read(own?.signal ?? signal, options).then(resolve, reject);
      });
      if (this.#isEmpty()) throw this.#fault("empty", "the answer is empty");
    } catch (error) {
      this.#error = error ?? new Error("Cannot go on: nothing was thrown as the reason");
    } finally {
      unlisten();
      // Whatever the backend still does for an answer that nobody reads to its end.
      if (this.#error !== null || this.#finishReason === "cut") own?.abort(OVER);
    }
  }

  async #read(signal: AbortSignal, options: CallOptions): Promise<void> {
    const parts = this.#backend.stream(this.#request, { signal })[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value: part } = await parts.next();
        signal.throwIfAborted();
        if (done === true) throw this.#fault("connection", "the answer broke off before its end");
        if (this.#take(part)) return;
        if (part.type !== "text-delta" && part.type !== "reasoning-delta") continue;
        const heard = options.onPart?.(part);
        if ((typeof heard === "object" ? await heard : heard) !== "cut") continue;
        signal.throwIfAborted();
        this.#finishReason = "cut";
        return await this.#awaitEnd(parts);
      }
    } finally {
      // Ends the request; how that goes is nobody's concern any more.
      parts.return?.().catch(() => {});
    }
  }

  /** All that was wanted is there. A model that says more is not waited for. */
  async #awaitEnd(parts: AsyncIterator<StreamPart>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, END_MS, undefined);
    });
    try {
      for (;;) {
        const next = await Promise.race([parts.next(), late]);
        if (next === undefined || next.done === true) return;
        if (next.value.type !== "text-delta" && next.value.type !== "reasoning-delta") {
          if (this.#take(next.value)) return;
          continue;
        }
        this.#unwanted += next.value.text;
        if (next.value.text.trim() !== "" || this.#unwanted.length > MAX_BLANK) return;
      }
    } catch {
      // It broke off where we would have.
    } finally {
      clearTimeout(timer);
    }
  }

  /** True: that was the end. */
  #take(part: StreamPart): boolean {
    switch (part.type) {
      case "text-delta":
        this.#text += part.text;
        break;
      case "reasoning-delta":
        this.#reasoning += part.text;
        break;
      case "input-usage":
        this.#inputUsage = part.usage;
        break;
      case "hidden-reasoning":
        this.#hiddenTokens += part.maxTokens;
        break;
      case "end":
        this.#finishReason = part.finishReason;
        this.#told = part.usage;
        return true;
    }
    if (this.#text.length + this.#reasoning.length > MAX_CHARACTERS) {
      throw this.#fault("malformed", `it has more than ${MAX_CHARACTERS} characters`, false);
    }
    return false;
  }

  /** Cut short at its limit, or refused, an answer may well be empty: that is told, and another try would be no better. */
  #isEmpty(): boolean {
    return (this.#finishReason === "stop" || this.#finishReason === "other") && this.#text.trim() === "";
  }

  /** A request that was turned away costs nothing; one that the provider worked on does, whether or not an answer came. */
  #usedAnything(): boolean {
    if (!this.#isAsked) return false;
    if (this.#text !== "" || this.#reasoning !== "" || this.#hiddenTokens > 0) return true;
    if (this.#inputUsage !== null || this.#error === null) return true;
    if (!(this.#error instanceof BackendConnectionError)) return true;
    const { fault, status } = this.#error;
    return (fault === "timeout" && status === null) || fault === "malformed" || fault === "empty";
  }

  #fault(fault: "empty" | "connection" | "malformed", why: string, retryable = true): BackendConnectionError {
    return new BackendConnectionError({ backend: this.#backend.name, fault, why, retryable });
  }
}

function estimatesOf({ messages }: BackendRequest): Estimates {
  const inputTokens = estimateInputTokens(messages.map(({ content }) => content));
  return { inputTokens, tokensOf: estimateTokens, hiddenTokens: 0 };
}
