// What a worker reports about the variables of a context. Names, keys and previews in it come from the material of the user.

import { z } from "zod";
import type { Shape } from "../shape.ts";
import { parseWith } from "./parse.ts";

const count = z.int().min(0);

const counts = z.array(z.object({ what: z.string(), count }));

/** What is in a list, a tuple, a set or a dict. */
export const contents = z.object({
  characters: count.describe("Of all texts in it, at any depth"),
  bytes: count.describe("Of all bytes in it"),
  isWhole: z.boolean().describe("Everything was counted"),
  kinds: counts.describe("The most frequent types of its items"),
  endings: counts.describe("The most frequent endings, where the keys are names of files"),
  largest: z.object({ key: z.string().exactOptional(), size: count }).exactOptional(),
  shape: z.string().exactOptional().describe("The structure of its first item, or of all of it"),
});
export type ContextContents = Shape<typeof contents>;

export const contextFacts = z.object({
  name: z.string(),
  type: z.string().describe("The Python type"),
  length: count.exactOptional().describe("Characters of a str, bytes of bytes, items of others"),
  columns: z.array(z.string()).exactOptional().describe("The first keys of a dict"),
  contents: contents.exactOptional(),
  head: z.string().exactOptional().describe("Its beginning: as text, or as Python shows it"),
  tail: z.string().exactOptional().describe("Its end, where the head is not all of it"),
  isWhole: z.boolean().exactOptional().describe("The head is all of it"),
});
export type ContextFacts = Shape<typeof contextFacts>;

const factsOfAll = z.array(contextFacts);

/** Undefined for what no worker of ours reports. */
export function parseContextFacts(value: unknown): readonly ContextFacts[] | undefined {
  return parseWith(factsOfAll, value);
}
