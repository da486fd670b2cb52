// What the orchestrator needs from outside: models and a cache of their answers. It does not know the implementations.

import type { ModelSettings } from "../api/models.ts";
import type { CachedAnswer } from "../protocol/usage.ts";
import type { BackendRequest, ModelPrice } from "../backends/backend.ts";
import type { KnownFacts } from "../backends/models/model-facts.ts";
import type { CallOptions, CallOutcome } from "../backends/dispatch/call.ts";

export interface DefinedModel {
  readonly name: string;
  /** What it is good for. Absent: the name says it. */
  readonly description?: string | undefined;
}

export interface Models {
  /** The models that were given a name. All others have those of their providers. */
  readonly defined: readonly DefinedModel[];
  /** Whether its backend was chosen for all models, or answers for one of the others, too. False where it has a backend of its own. */
  sharesBackend(model: string, others: readonly string[]): boolean;
  /** How it is asked unless a call says otherwise. */
  settingsOf(model: string): ModelSettings;
  /** Identifies who answers for this model, so that a cache never mixes answers of different providers. */
  scopeOf(model: string): string;
  /** The name of the backend that answers for this model. */
  backendOf(model: string): string;
  /** With retries and limited concurrency. Never rejects. */
  call(request: BackendRequest, options: CallOptions): Promise<CallOutcome>;
  /** Undefined: not known. */
  priceOf(model: string): Promise<ModelPrice | undefined>;
  /** What is known of the model now. It becomes more with what its provider refuses. */
  factsOf(model: string): Promise<KnownFacts>;
}

/** Answers by the hash of their requests. */
export interface CallCache {
  get(requestHash: string): Promise<CachedAnswer | undefined>;
  put(requestHash: string, answer: CachedAnswer): void;
}
