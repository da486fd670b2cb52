// What is known of a model before it is called: how much it can read and write, and whether it reasons.
//
// Facts come from the configuration, from what a provider refused, and from a table, in this order. An unknown fact is absent:
// the rest of the code must do without it, and a provider may still refuse what the facts allow.

import type { ModelFacts } from "../backend.ts";
import { findInTable, isListed, type TableLookup } from "./price-table.ts";
import { factsOfFamily } from "./model-families.ts";

export interface KnownFacts extends ModelFacts {
  /** Whether a public provider that the tables know serves it, as opposed to a private or unknown server. */
  readonly isHosted: boolean;
}

/** `address`: where requests go, if known. */
export type FactsLookup = TableLookup & { readonly address?: string | undefined };

/** From the tables. Loads the large one on first use. */
export async function factsFromTables(
  backend: string,
  model: string,
  { address, ...lookup }: FactsLookup = {},
): Promise<KnownFacts> {
  const contextWindow = (await findInTable(backend, model, lookup))?.model.context_window;
  const isHosted = await isListed(backend, address === undefined ? lookup : { baseUrl: address });
  return { ...factsOfFamily(model), ...(contextWindow !== undefined && { contextWindow }), isHosted };
}

/**
 * What a configuration says takes precedence over tables. What a provider refused is true in any case: it lowers a limit that the
 * configuration sets too high.
 */
export function mergeFacts({
  configured = {},
  learned = {},
  tables = { isHosted: false },
}: {
  readonly configured?: ModelFacts | undefined;
  readonly learned?: ModelFacts | undefined;
  readonly tables?: KnownFacts | undefined;
}): KnownFacts {
  const merged = { ...tables, ...learned, ...configured };
  for (const limit of ["contextWindow", "maxOutputTokens"] as const) {
    const refused = learned[limit];
    if (refused !== undefined) merged[limit] = Math.min(merged[limit] ?? Infinity, refused);
  }
  return merged;
}
