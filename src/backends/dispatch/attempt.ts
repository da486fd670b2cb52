// One request to a backend and its outcome: an answer or an error, and in either case the usage.

import { BackendConnectionError } from "../../errors.ts";
import type { Backend, BackendRequest, InputUsagePart, StreamPart } from "../backend.ts";
import type { RateLimits } from "../rate-limits.ts";
import { looksLikeReasoning } from "../reasoning/looks-like-reasoning.ts";
import type { Piece, ReasoningSplitter } from "../reasoning/reasoning-splitter.ts";
import { AnswerText } from "./answer-text.ts";
import type { CallOptions, Estimates } from "./call.ts";
import { countUsage } from "./count-usage.ts";
import { toToolCallText } from "./tool-call-text.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { type FinishReason, NO_USAGE, type ModelUsage, type ReportedUsage } from "../../protocol/usage.ts";
import { estimateInputTokens, estimateTokens } from "../estimate-tokens.ts";

interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: FinishReason | "cut";
}

/** Called when the provider accepts the request. */
type OnAccept = (limits: RateLimits | undefined) => void;

/** No model writes more. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** How long a cut answer may take to reach its end, which reports the usage. */
const END_MS = 250;
/** Text after a cut that is only white space does not keep the answer from ending. */
const MAX_BLANK = 1000;
/** How much is read after a cut to find out whether the text before it was reasoning. */
const MAX_AHEAD = 12_000;
/** An answer with so many tokens, for each that it may have, comes from a provider that ignores the limit. */
const FAR_BEYOND = 1.5;
/** The count of words is not that exact for short answers. */
const MARGIN_TOKENS = 256;

/** One for all calls: a new error for each would cost more than the rest of the call. */
const OVER = new Error("The call is over");

export class Attempt {
  readonly #backend: Backend;
  readonly #request: BackendRequest;
  readonly #splitter: ReasoningSplitter;
  readonly #estimates: Estimates;
  readonly #answer = new AnswerText();
  #hiddenTokens = 0;
  #inputUsage: InputUsagePart["usage"] | null = null;
  #reportedUsage: ReportedUsage | null = null;
  #finishReason: FinishReason | "cut" = "other";
  /** The name of a tool that was called and left out. */
  #toolCalled: string | undefined;
  #error: unknown = null;
  #isSent = false;
  /** Before its end, because it goes on and on. */
  #isLeft = false;
  #isAccepted = false;
  #onAccept: OnAccept | undefined;
  /** With so many tokens an answer is left. */
  #mostTokens = Infinity;

  constructor(
    backend: Backend,
    request: BackendRequest,
    splitter: ReasoningSplitter,
    estimates: Estimates = toEstimates(request),
  ) {
    this.#backend = backend;
    this.#request = request;
    this.#splitter = splitter;
    this.#estimates = estimates;
  }

  /** The provider accepted the request: from then on it costs something. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** An estimate of the request's size. */
  get inputTokens(): number {
    return this.#estimates.inputTokens;
  }

  /** Null: there is an answer. */
  get error(): unknown {
    return this.#error;
  }

  get answer(): Answer {
    const { text, reasoning } = this.#answer;
    return { text, reasoning, finishReason: this.#finishReason };
  }

  /** As reported, else estimated. */
  get usage(): ModelUsage {
    return this.#reportedUsage === null && !this.#hasUsage()
      ? NO_USAGE
      : countUsage({
          reported: this.#reportedUsage,
          input: this.#inputUsage,
          estimates: this.#estimates,
          answer: this.#answer,
          hiddenTokens: this.#hiddenTokens,
          maxTokens: this.#request.maxTokens ?? Infinity,
          isCut: this.#finishReason === "cut",
        });
  }

  /** Call once. Never rejects: see `error`. Returns at once after an abort, even where the backend ignores it. */
  async run(options: CallOptions, onAccept?: OnAccept): Promise<void> {
    const { signal, isLimitFirm = false } = options;
    const { maxTokens = Infinity } = this.#request;
    this.#onAccept = onAccept;
    if (isLimitFirm) this.#mostTokens = maxTokens * FAR_BEYOND + MARGIN_TOKENS;
    const own = this.#backend.sharesSignals === true ? undefined : new AbortController();
    let unlisten = (): void => {};
    try {
      signal.throwIfAborted();
      this.#isSent = true;
      await new Promise<void>((resolve, reject) => {
        unlisten = onAbort(signal, () => {
          own?.abort(signal.reason);
          reject(signal.reason as Error);
        });
        this.#read(own?.signal ?? signal, options).then(resolve, reject);
      });
      if (this.#isEmpty()) throw this.#fault("empty", this.#whyEmpty());
    } catch (error) {
      this.#error = error ?? new Error("Cannot go on: nothing was thrown as the reason");
    } finally {
      unlisten();
      // Stops a backend that still works on an answer that is not read to its end.
      if (this.#error !== null || this.#finishReason === "cut" || this.#isLeft) own?.abort(OVER);
    }
  }

  async #read(signal: AbortSignal, options: CallOptions): Promise<void> {
    const parts = this.#backend.stream(this.#request, { signal })[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value: part } = await parts.next();
        signal.throwIfAborted();
        if (done === true) throw this.#fault("connection", "the answer broke off before its end");
        for (const piece of this.#split(part, options)) {
          if (this.#add(piece)) return;
          const reaction = this.#show(piece, options);
          if ((typeof reaction === "object" ? await reaction : reaction) !== "cut") continue;
          signal.throwIfAborted();
          this.#answer.cut();
        }
        if (this.#answer.isCut && !this.#mayBeReasoning()) {
          this.#finishReason = "cut";
          return await this.#awaitEnd(parts);
        }
      }
    } catch (error) {
      // After a cut only more of the text was looked for.
      if (!this.#answer.isCut || signal.aborted) throw error;
      this.#finishReason = "cut";
    } finally {
      // Closes the request. Its outcome no longer matters.
      parts.return?.().catch(() => {});
    }
  }

  /** Its text may be reasoning of the model, whichever way the provider sends it. */
  #split(part: StreamPart, { toolCalls }: CallOptions): readonly (StreamPart | Piece)[] {
    if (!this.#isAccepted) {
      this.#isAccepted = true;
      this.#onAccept?.(part.type === "response-start" ? part.rateLimits : undefined);
    }
    if (part.type === "tool-call" && toolCalls === "text") {
      return [{ type: "text-delta", text: toToolCallText(part, this.#answer.text) }];
    }
    if (part.type === "text-delta") return this.#splitter.push(part.text);
    if (part.type === "end") return [...this.#splitter.end(part.finishReason), part];
    if (part.type === "reasoning-delta" || part.type === "hidden-reasoning") this.#splitter.noteReasoning();
    return [part];
  }

  #show(piece: StreamPart | Piece, { onPart }: CallOptions): ReturnType<NonNullable<CallOptions["onPart"]>> {
    if (this.#answer.isCut) return undefined;
    if (piece.type === "text-delta" || piece.type === "reasoning-delta") return onPart?.(piece);
    return piece.type === "reclassify" ? onPart?.({ type: "reclassify", text: this.#answer.text }) : undefined;
  }

  /** Whether text that was cut may be reasoning without an opening marker, and its closing one may follow. */
  #mayBeReasoning(): boolean {
    const { text, afterCut } = this.#answer;
    if (!this.#splitter.isUndecided || !looksLikeReasoning(text, this.#request.model)) return false;
    if (afterCut.length > MAX_AHEAD) this.#splitter.settle("plain");
    return afterCut.length <= MAX_AHEAD;
  }

  /** The text is complete. Waits for the end, but not for a model that writes on. */
  async #awaitEnd(parts: AsyncIterator<StreamPart>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, END_MS, undefined);
    });
    try {
      for (;;) {
        const next = await Promise.race([parts.next(), late]);
        if (next === undefined || next.done === true) return;
        if (this.#add(next.value)) return;
        if (this.#answer.afterCut.trim() !== "" || this.#answer.afterCut.length > MAX_BLANK) return;
      }
    } catch {
      // The stream failed where we would have left it.
    } finally {
      clearTimeout(timer);
    }
  }

  /** True: that was the end. */
  #add(part: StreamPart | Piece): boolean {
    switch (part.type) {
      case "response-start":
        break;
      case "text-delta":
      case "reasoning-delta":
      case "reclassify":
        this.#answer.add(part);
        break;
      case "input-usage":
        this.#inputUsage = part.usage;
        break;
      case "hidden-reasoning":
        this.#hiddenTokens += part.maxTokens;
        break;
      case "tool-call":
        this.#toolCalled ??= part.name;
        break;
      case "end":
        // A model that stopped right after its block was not cut off, and its usage is what was reported.
        this.#finishReason = this.#answer.afterCut.trim() === "" ? part.finishReason : "cut";
        this.#reportedUsage = part.usage;
        return true;
    }
    // What was reserved for the call does not cover a longer answer.
    if (!this.#answer.isCut && this.#answer.leastTokens > this.#mostTokens) {
      this.#finishReason = "length";
      this.#isLeft = true;
      return true;
    }
    if (this.#answer.length > MAX_CHARACTERS) {
      throw this.#fault("malformed", `it has more than ${MAX_CHARACTERS} characters`, false);
    }
    return false;
  }

  /** An answer that was truncated or refused may be empty: another attempt would be no better. */
  #isEmpty(): boolean {
    return (this.#finishReason === "stop" || this.#finishReason === "other") && this.#answer.text.trim() === "";
  }

  #whyEmpty(): string {
    if (this.#toolCalled !== undefined) return `the model called the tool '${this.#toolCalled}' in place of an answer`;
    return this.#answer.reasoning === "" ? "the answer is empty" : "there is no answer after the reasoning";
  }

  /** A request that was turned away costs nothing; one that the provider worked on does, even without an answer. */
  #hasUsage(): boolean {
    if (!this.#isSent) return false;
    if (this.#isAccepted || this.#error === null) return true;
    if (!(this.#error instanceof BackendConnectionError)) return true;
    const { fault, status } = this.#error;
    return (fault === "timeout" && status === null) || fault === "malformed" || fault === "empty";
  }

  #fault(fault: "empty" | "connection" | "malformed", why: string, retryable = true): BackendConnectionError {
    return new BackendConnectionError({ backend: this.#backend.name, fault, why, retryable });
  }
}

function toEstimates({ messages }: BackendRequest): Estimates {
  const inputTokens = estimateInputTokens(messages.map(({ content }) => content));
  return { inputTokens, tokensOf: estimateTokens, hiddenTokens: 0 };
}
