// The maintained table of @pydantic/genai-prices, which has prices and windows of models. It is large, and loaded on first use.

import type { PriceCalculation } from "@pydantic/genai-prices";

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
  const provider = providerOf(backend, lookup);
  if (provider === undefined) return undefined;
  const { calcPrice } = await import("@pydantic/genai-prices");
  return calcPrice({ input_tokens: 0, output_tokens: 0 }, model, provider) ?? undefined;
}

function providerOf(
  backend: string,
  { baseUrl, provider }: TableLookup,
): { providerId: string } | { providerApiUrl: string } | undefined {
  if (provider !== undefined) return { providerId: provider };
  if (backend === "openai" || backend === "anthropic") return { providerId: backend };
  return baseUrl === undefined ? undefined : { providerApiUrl: baseUrl };
}
