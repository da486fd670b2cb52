// For models on the user's own machine: a small window, slow tokens, and little to gain from recursion.

import type { Strategy } from "../../../protocol/strategy/strategy.ts";
import { mergeStrategy } from "../merge-strategy.ts";
import { small } from "./small.ts";

export const local: Strategy = mergeStrategy(small, {
  name: "local",
  prompts: { howToWork: small.prompts.howToWork.replaceAll("50,000", "10,000").replaceAll("50_000", "10_000") },
  observations: { characters: 4_000, errorCharacters: 1_500, displays: 10, contextCharacters: 2_500 },
  calls: { stepTokens: 4_000, queryTokens: 2_000, extractTokens: 2_000, directTokens: 4_000, directBytes: 12_000 },
  helpers: ["llm_query_batched", "map_query", "reduce_query", "chunk", "grep", "peek", "SHOW_VARS"],
});
