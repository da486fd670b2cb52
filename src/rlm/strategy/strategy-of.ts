// The strategy of each model in a run.

import type { Strategy, StrategyChanges } from "../../protocol/strategy/strategy.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { chooseStrategy, type ModelPlace } from "./choose-strategy.ts";
import { mergeStrategy } from "./merge-strategy.ts";
import { strategies } from "./strategies.ts";

/** The name of a shipped strategy, or what differs from one. */
export type StrategyChoice = string | StrategyChanges;

/** `choice` is for all models; undefined: each has the one that fits. Throws a TypeError for a name that is not known. */
export function strategyOf(
  choice: StrategyChoice | undefined,
  placeOf: (model: string) => ModelPlace,
): (model: string) => Strategy {
  const name = typeof choice === "string" ? choice : choice?.extends;
  const named = name === undefined ? undefined : strategyNamed(name);
  const known = new Map<string, Strategy>();
  const create = (model: string): Strategy => {
    const base = named ?? chooseStrategy(placeOf(model));
    return typeof choice === "object" ? mergeStrategy(base, choice) : base;
  };
  return (model) => {
    const strategy = known.get(model) ?? create(model);
    known.set(model, strategy);
    return strategy;
  };
}

function strategyNamed(name: string): Strategy {
  const shipped: Readonly<Record<string, Strategy>> = strategies;
  const found = Object.hasOwn(shipped, name) ? shipped[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(shipped);
  const near = didYouMean(name, names);
  const hint = near === undefined ? `there are ${names.join(", ")}` : `did you mean '${near}'?`;
  throw new TypeError(`Cannot use the strategy '${name}': it is not one of the shipped ones; ${hint}`);
}
