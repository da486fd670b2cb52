// What the orchestrator is given from outside: models, a journal, a cache, a clock. It knows none of their implementations.

import type { BackendRequest, FinishReason, ModelPrice } from "../backends/backend.ts";
import type { CallOptions, CallOutcome } from "../backends/dispatch/call.ts";
import type { RunEvent } from "../protocol/runs.ts";

/** Models that can be asked by name. */
export interface Models {
  /** Identifies who answers for this model, so that a cache never mixes answers of different providers. */
  scopeOf(model: string): string;
  /** The name of the backend that answers for this model. */
  backendOf(model: string): string;
  /** With retries, and within limits on how many at once. Never rejects. */
  call(request: BackendRequest, options: CallOptions): Promise<CallOutcome>;
  /** Undefined: it is not known. */
  priceOf(model: string): Promise<ModelPrice | undefined>;
}

/** Hears every event of a run, in order. Must not throw. */
export type Journal = (event: RunEvent) => void;

/** What was answered to a request, under its hash. */
export interface CachedAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: FinishReason;
  readonly isCut: boolean;
}

export interface CallCache {
  get(requestHash: string): Promise<CachedAnswer | undefined>;
  put(requestHash: string, answer: CachedAnswer): void;
}
