// The strategies that are shipped.

import { STRATEGY_NAMES, type Strategy, type StrategyName } from "../../protocol/strategy/strategy.ts";
import { frontier } from "./profiles/frontier.ts";
import { local } from "./profiles/local.ts";
import { small } from "./profiles/small.ts";

/** What a file or an object extends. */
export const strategies: Readonly<Record<StrategyName, Strategy>> = { frontier, small, local };

export function isStrategyName(name: string): name is StrategyName {
  return (STRATEGY_NAMES as readonly string[]).includes(name);
}
