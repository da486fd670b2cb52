// The strategy of each model in a run.

import { createHash } from "node:crypto";
import type { Strategy, StrategyChanges } from "../../protocol/strategy/strategy.ts";
import { chooseStrategy, type ModelLocation } from "./choose-strategy.ts";
import { mergeStrategy } from "./merge-strategy.ts";
import { checkStrategy, readStrategy } from "./read-strategy.ts";
import { strategies } from "./strategies.ts";

/** The name of a shipped strategy, the path of a file, or what differs from a shipped one. */
export type StrategyChoice = string | StrategyChanges;

/** That are remembered: names may come from code. */
const MAX_MODELS = 1_000;

export interface StrategyOptions {
  /** For all models. Default: for each the shipped one that fits. */
  readonly strategy?: StrategyChoice | undefined;
  /** Replaces `prompts.system`. */
  readonly systemPrompt?: string | undefined;
  /** Of single models, by name. */
  readonly ofModels?: ReadonlyMap<string, StrategyChoice>;
}

/** Throws a TypeError for what is no strategy, and a ConfigurationError for what is wrong with a file. */
export function strategyOf(
  { strategy = {}, systemPrompt, ofModels = new Map() }: StrategyOptions,
  locationOf: (model: string) => ModelLocation,
): (model: string) => Strategy {
  const common = toChanges(strategy);
  const single = new Map([...ofModels].map(([model, choice]) => [model, toChanges(choice)]));
  const own = systemPrompt === undefined ? {} : checkStrategy({ prompts: { system: systemPrompt } });
  const known = new Map<string, Strategy>();
  const create = (model: string): Strategy => {
    const changes = single.get(model) ?? common;
    const base = changes.extends === undefined ? chooseStrategy(locationOf(model)) : strategies[changes.extends];
    return mergeStrategy(mergeStrategy(base, changes), own);
  };
  return (model) => {
    const made = known.get(model) ?? create(model);
    if (known.size < MAX_MODELS) known.set(model, made);
    return made;
  };
}

function toChanges(choice: StrategyChoice): StrategyChanges {
  return typeof choice === "string" ? readStrategy(choice) : checkStrategy(choice);
}

/** Tells strategies of the same name apart. */
export function digestOf(strategy: Strategy): string {
  return createHash("sha256").update(JSON.stringify(strategy)).digest("hex").slice(0, 16);
}
