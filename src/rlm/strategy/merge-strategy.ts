// A strategy with some of its values replaced.

import type { Strategy, StrategyChanges } from "../../protocol/strategy/strategy.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";

/** Lists are replaced as a whole. */
export function mergeStrategy(base: Strategy, changes: StrategyChanges): Strategy {
  const {
    name,
    helpers,
    prompts: { functions, ...texts } = {},
    observations,
    calls,
    guards,
    notes,
    compaction,
  } = changes;
  return {
    name: name ?? base.name,
    prompts: merge({ ...base.prompts, functions: merge(base.prompts.functions, functions) }, texts),
    observations: merge(base.observations, observations),
    calls: merge(base.calls, calls),
    guards: merge(base.guards, guards),
    notes: merge(base.notes, notes),
    compaction: merge(base.compaction, compaction),
    helpers: helpers ?? base.helpers,
  };
}

function merge<Part extends object>(
  base: Part,
  changes: { readonly [Key in keyof Part]?: Part[Key] | undefined } = {},
): Part {
  return { ...base, ...omitUndefined(changes) };
}
