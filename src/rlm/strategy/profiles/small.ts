// For small models of the providers. They follow a short recipe better than advice, and lose the thread in long output.

import type { Strategy } from "../../../protocol/strategy/strategy.ts";
import { mergeStrategy } from "../merge-strategy.ts";
import { frontier } from "./frontier.ts";

export const small: Strategy = mergeStrategy(frontier, {
  name: "small",
  prompts: {
    howToWork:
      "How to work, one block at a time:\n" +
      "1. Look at the material: print its size, its beginning, and how it is structured.\n" +
      "2. Search, filter and count with Python if that is enough.\n" +
      "3. If the material has to be read, cut it into pieces of up to about 50,000 characters and ask about all pieces at once:\n" +
      '   answers = llm_query_batched([f"{question}\\n\\n{piece}" for piece in chunk(context, 50_000)])\n' +
      "   Put the piece itself into the prompt: the model that is asked sees nothing else.\n" +
      "4. Print what came back, and check it.\n" +
      "5. Only then answer, in a block of its own.",
  },
  observations: { characters: 6_000, errorCharacters: 2_000, contextCharacters: 4_000 },
  calls: { stepTokens: 8_000, queryTokens: 4_000, extractTokens: 4_000, directTokens: 8_000 },
  guards: { repeatedBlocks: 3 },
});
