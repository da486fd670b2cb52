// The strategies that are shipped.

import type { Strategy } from "../../protocol/strategy/strategy.ts";
import { frontier } from "./profiles/frontier.ts";
import { local } from "./profiles/local.ts";
import { small } from "./profiles/small.ts";

export const strategies = { frontier, small, local } as const satisfies Readonly<Record<string, Strategy>>;
