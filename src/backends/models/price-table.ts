// The maintained table of @pydantic/genai-prices, which has prices and windows of models. It is large, and loaded on first use.

import type { PriceCalculation } from "@pydantic/genai-prices";
import { providerOf } from "../provider-table.ts";

export interface TableLookup {
  /** Identifies the provider of a compatible backend. */
  readonly baseUrl?: string;
  /** Of a model object: its provider, as the table calls it. */
  readonly provider?: string;
}

/** By the exact name of the model, dated ones included. Undefined: the provider or the model is not in it. */
export async function findInTable(
  backend: string,
  model: string,
  lookup: TableLookup,
): Promise<PriceCalculation | undefined> {
  const provider = pricedBy(backend, lookup);
  if (provider === undefined) return undefined;
  const { calcPrice } = await import("@pydantic/genai-prices");
  return calcPrice({ input_tokens: 0, output_tokens: 0 }, model, provider) ?? undefined;
}

/** Whether the table knows the provider. An address decides, where there is one. */
export async function isListed(backend: string, { baseUrl, provider }: TableLookup): Promise<boolean> {
  const known =
    baseUrl === undefined
      ? pricedBy(backend, { ...(provider !== undefined && { provider }) })
      : { providerApiUrl: baseUrl };
  if (known === undefined) return false;
  const { findProvider } = await import("@pydantic/genai-prices");
  return findProvider(known) !== undefined;
}

function pricedBy(
  backend: string,
  { baseUrl, provider }: TableLookup,
): { providerId: string } | { providerApiUrl: string } | undefined {
  if (provider !== undefined) return { providerId: provider };
  const providerId = providerOf(backend)?.pricedAs;
  if (providerId !== undefined) return { providerId };
  return baseUrl === undefined ? undefined : { providerApiUrl: baseUrl };
}
