// What the orchestrator needs from outside: models and a cache of their answers. It does not know the implementations.

import type { CachedAnswer } from "../protocol/usage.ts";
import type { BackendRequest, ModelFacts, ModelPrice } from "../backends/backend.ts";

import type { CallOptions, CallOutcome } from "../backends/dispatch/call.ts";

export interface Models {
  /** Identifies who answers for this model, so that a cache never mixes answers of different providers. */
  scopeOf(model: string): string;
  /** The name of the backend that answers for this model. */
  backendOf(model: string): string;
  /** With retries and limited concurrency. Never rejects. */
  call(request: BackendRequest, options: CallOptions): Promise<CallOutcome>;
  /** Undefined: not known. */
  priceOf(model: string): Promise<ModelPrice | undefined>;
  /** What is known of the model now. It becomes more with what its provider refuses. */
  factsOf(model: string): Promise<ModelFacts>;
}

/** Answers by the hash of their requests. */
export interface CallCache {
  get(requestHash: string): Promise<CachedAnswer | undefined>;
  put(requestHash: string, answer: CachedAnswer): void;
}
