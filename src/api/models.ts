// Models of runs: who answers for each, and with which settings.

import type { StrategyChanges } from "../protocol/strategy/strategy.ts";
import type { LanguageModel } from "../backends/providers/language-model.ts";

/** How a model is asked, and what is known of it. */
export interface ModelSettings {
  /** Absent: the provider's default. Models without it are asked without it. */
  readonly temperature?: number | undefined;
  /** Makes sampling repeatable where the provider can. Absent: none. */
  readonly seed?: number | undefined;
  /** For reasoning models, in the provider's terms: `low`, `medium`, `high`. Other models are called without it. Absent: the provider's default. */
  readonly reasoningEffort?: string | undefined;
  /** Limit on each answer, reasoning included, where a call sets none. Absent: by what the call is for. */
  readonly maxTokens?: number | undefined;
  /** Further fields of the request's body, in the provider's terms. Not the model, the messages or `stream`. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** Tokens that fit into one request and its answer. Absent: as far as it is known of the model. */
  readonly contextWindow?: number | undefined;
  /** The most tokens that the model can answer with. Absent: as far as it is known of the model. */
  readonly maxOutputTokens?: number | undefined;
  /** How it is asked, and what it is shown: see the option of `runtime.rlm`. Absent: that option, else the shipped one that fits. */
  readonly strategy?: string | StrategyChanges | undefined;
}

/** A model under a name of its own, with its settings. */
export interface ModelDefinition extends ModelSettings {
  /** As the provider spells it, or `backend/model`; or a language model of the AI SDK. */
  readonly model: string | LanguageModel;
  /** What it is good for, in a few words. The model that writes code reads it. Absent: the name says it. */
  readonly description?: string | undefined;
  /** A name of `backends`, or a built-in one: `model` is then taken whole. Absent: as for every name of a model. */
  readonly backend?: string | undefined;
}

/** A provider or server under a name of its own. */
export interface BackendDefinition {
  /** The kind of backend, such as `openai-compatible`. Default: its name where that is built in, else `openai-compatible`. */
  readonly type?: string | undefined;
  /** Default: that of its type. */
  readonly baseUrl?: string | undefined;
  /** Default: that of its type, from the environment. It never reaches a session, a log or an error. */
  readonly apiKey?: string | undefined;
}
