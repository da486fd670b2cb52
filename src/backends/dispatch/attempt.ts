// One request to a backend and its outcome: an answer or an error, and in either case the usage.

import { BackendConnectionError } from "../../errors.ts";
import type { Backend, BackendRequest, InputUsagePart, StreamPart } from "../backend.ts";
import type { CallOptions, Estimates } from "./call.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import {
  type FinishReason,
  NO_USAGE,
  toModelUsage,
  type ModelUsage,
  type ReportedUsage,
} from "../../protocol/usage.ts";
import { estimateInputTokens, estimateTokens } from "../estimate-tokens.ts";

interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: FinishReason | "cut";
}

/** No model writes more. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** How long a cut answer may take to reach its end, which reports the usage. */
const END_MS = 250;
/** Text after a cut that is only white space does not keep the answer from ending. */
const MAX_BLANK = 1000;
/** What a model writes before it notices that the request is closed. */
const TOKENS_IN_TRANSIT = 32;

/** One for all calls: a new error for each would cost more than the rest of the call. */
const OVER = new Error("The call is over");

export class Attempt {
  readonly #backend: Backend;
  readonly #request: BackendRequest;
  readonly #estimates: Estimates;
  #text = "";
  #reasoning = "";
  #textAfterCut = "";
  #hiddenTokens = 0;
  #inputUsage: InputUsagePart["usage"] | null = null;
  #reportedUsage: ReportedUsage | null = null;
  #finishReason: FinishReason | "cut" = "other";
  #error: unknown = null;
  #isSent = false;
  #isAccepted = false;

  constructor(backend: Backend, request: BackendRequest, estimates: Estimates = toEstimates(request)) {
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

  /** As reported, else estimated. */
  get usage(): ModelUsage {
    if (this.#reportedUsage !== null) return toModelUsage(this.#reportedUsage);
    if (!this.#hasUsage()) return NO_USAGE;
    const inputTokens = this.#inputUsage?.inputTokens ?? this.#estimates.inputTokens;
    const { outputTokens, reasoningTokens } = this.#estimateOutput();
    const estimatedTokens = outputTokens + (this.#inputUsage === null ? inputTokens : 0);
    const { cacheReadTokens = 0, cacheWriteTokens = 0 } = this.#inputUsage ?? {};
    const cached = { cacheReadTokens, cacheWriteTokens };
    return toModelUsage({ inputTokens, ...cached, outputTokens, reasoningTokens, estimatedTokens });
  }

  /** At most `maxTokens`, since a provider does not bill more. */
  #estimateOutput(): Pick<ModelUsage, "outputTokens" | "reasoningTokens"> {
    const { tokensOf, hiddenTokens } = this.#estimates;
    const { maxTokens = Infinity } = this.#request;
    const textTokens = tokensOf(this.#text + this.#textAfterCut);
    const reportedHidden = Number.isFinite(Math.min(this.#hiddenTokens, maxTokens)) ? this.#hiddenTokens : 0;
    const reasoned = Math.max(reportedHidden, tokensOf(this.#reasoning) + hiddenTokens);
    const reasoningTokens = Math.min(Math.max(0, maxTokens - textTokens), reasoned);
    const inTransit = this.#finishReason === "cut" ? TOKENS_IN_TRANSIT : 0;
    return { outputTokens: Math.min(maxTokens, textTokens + reasoningTokens + inTransit), reasoningTokens };
  }

  /** Call once. Never rejects: see `error`. Returns at once after an abort, even where the backend ignores it. */
  async run(options: CallOptions): Promise<void> {
    const { signal } = options;
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
      if (this.#isEmpty()) throw this.#fault("empty", "the answer is empty");
    } catch (error) {
      this.#error = error ?? new Error("Cannot go on: nothing was thrown as the reason");
    } finally {
      unlisten();
      // Stops a backend that still works on an answer that is not read to its end.
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
        if (this.#add(part)) return;
        if (part.type !== "text-delta" && part.type !== "reasoning-delta") continue;
        const reaction = options.onPart?.(part);
        if ((typeof reaction === "object" ? await reaction : reaction) !== "cut") continue;
        signal.throwIfAborted();
        this.#finishReason = "cut";
        return await this.#awaitEnd(parts);
      }
    } finally {
      // Closes the request. Its outcome no longer matters.
      parts.return?.().catch(() => {});
    }
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
        if (next.value.type !== "text-delta" && next.value.type !== "reasoning-delta") {
          if (this.#add(next.value)) return;
          continue;
        }
        this.#textAfterCut += next.value.text;
        if (next.value.text.trim() !== "" || this.#textAfterCut.length > MAX_BLANK) return;
      }
    } catch {
      // The stream failed where we would have left it.
    } finally {
      clearTimeout(timer);
    }
  }

  /** True: that was the end. */
  #add(part: StreamPart): boolean {
    this.#isAccepted = true;
    switch (part.type) {
      case "response-start":
        break;
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
        this.#reportedUsage = part.usage;
        return true;
    }
    if (this.#text.length + this.#reasoning.length > MAX_CHARACTERS) {
      throw this.#fault("malformed", `it has more than ${MAX_CHARACTERS} characters`, false);
    }
    return false;
  }

  /** An answer that was truncated or refused may be empty: another attempt would be no better. */
  #isEmpty(): boolean {
    return (this.#finishReason === "stop" || this.#finishReason === "other") && this.#text.trim() === "";
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
