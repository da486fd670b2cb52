// What the orchestrator is given from outside: models, a journal, a cache, a clock. It knows none of their implementations.

import type { BackendPart, BackendRequest, FinishReason, ModelPrice } from "../backends/backend.ts";
import type { RunEvent } from "../protocol/runs.ts";

/** Models that can be asked by name, with retries and limits on how many at once. */
export interface Models {
  /** The name of the backend that answers for this model. */
  backendOf(model: string): string;
  /** Stopping to read it ends the call. Throws BackendConnectionError. */
  stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncIterable<BackendPart>;
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
