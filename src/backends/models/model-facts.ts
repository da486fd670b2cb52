// What is known of a model before it is called: how much it can read and write, and whether it reasons.
//
// Facts come from the configuration, from what a provider refused, and from a table, in this order. A fact that nobody knows is absent:
// the rest of the code must do without it, and a provider may still refuse what the facts allow.

import type { ModelFacts } from "../backend.ts";
import { findInTable, type TableLookup } from "./price-table.ts";
import { factsOfFamily } from "./model-families.ts";

/** From the tables. Loads the large one on first use. */
export async function factsFromTables(
  backend: string,
  model: string,
  options: Pick<TableLookup, "baseUrl" | "provider"> = {},
): Promise<ModelFacts> {
  const contextWindow = (await findInTable(backend, model, options))?.model.context_window;
  return { ...factsOfFamily(model), ...(contextWindow !== undefined && { contextWindow }) };
}

/**
 * What a configuration says takes precedence over tables. What a provider refused is true in any case: it lowers a limit that the
 * configuration sets too high.
 */
export function mergeFacts({
  configured = {},
  learned = {},
  tables = {},
}: {
  readonly configured?: ModelFacts | undefined;
  readonly learned?: ModelFacts | undefined;
  readonly tables?: ModelFacts | undefined;
}): ModelFacts {
  const merged = { ...tables, ...learned, ...configured };
  for (const limit of ["contextWindow", "maxOutputTokens"] as const) {
    const refused = learned[limit];
    if (refused !== undefined) merged[limit] = Math.min(merged[limit] ?? Infinity, refused);
  }
  return merged;
}
