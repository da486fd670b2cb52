// What a worker reports about the variables of a context. Names, keys and previews in it come from the material of the user.

import { z } from "zod";
import type { Shape } from "../shape.ts";
import { parseWith } from "./parse.ts";

const count = z.int().min(0);

export const contextFacts = z.object({
  name: z.string(),
  type: z.string().describe("The Python type"),
  length: count.exactOptional().describe("Characters of a str, bytes of bytes, items of others"),
  columns: z.array(z.string()).exactOptional().describe("The first keys of a dict"),
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
