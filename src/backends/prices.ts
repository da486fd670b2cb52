// What models cost: what the configuration says, else the maintained table of @pydantic/genai-prices.
//
// A price that is not known is undefined and never zero: a limit on costs would let everything pass.

import type { ModelPrice, TokenPrice, TokenUsage } from "./backend.ts";

export interface PriceOptions {
  /** By model, or by `backend/model`; they win over the table. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
  /** Of a backend that is not its provider's own: whose prices hold is known by the address. */
  readonly baseUrl?: string;
  /** Of a model object: its provider, as the table calls it. */
  readonly provider?: string;
}

/** Undefined: not known. The table is loaded when it is first asked. */
export async function priceOf(
  backend: string,
  model: string,
  options: PriceOptions = {},
): Promise<ModelPrice | undefined> {
  const given = own(options.prices, `${backend}/${model}`) ?? own(options.prices, model);
  if (given !== undefined) return given;
  const provider = providerOf(backend, options);
  if (provider === undefined) return undefined;
  const { calcPrice } = await import("@pydantic/genai-prices");
  const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, model, provider);
  return found === null ? undefined : toModelPrice(found.model_price);
}

/** In USD. What the provider itself says wins. */
export function costOf(usage: TokenUsage, price: ModelPrice): number {
  if (usage.costUsd !== undefined) return usage.costUsd;
  const tier = price.tiers?.findLast(({ aboveInputTokens }) => usage.inputTokens > aboveInputTokens) ?? price;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const plainTokens = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const millionths =
    plainTokens * tier.inputUsd +
    cacheReadTokens * tier.cacheReadUsd +
    cacheWriteTokens * tier.cacheWriteUsd +
    outputTokens * tier.outputUsd;
  return millionths / 1_000_000;
}

function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

function providerOf(
  backend: string,
  { baseUrl, provider }: PriceOptions,
): { providerId: string } | { providerApiUrl: string } | undefined {
  if (provider !== undefined) return { providerId: provider };
  if (backend === "openai" || backend === "anthropic") return { providerId: backend };
  return baseUrl === undefined ? undefined : { providerApiUrl: baseUrl };
}

type TableEntry =
  | number
  | undefined
  | { readonly base: number; readonly tiers: readonly { start: number; price: number }[] };

function toModelPrice(table: Readonly<Record<string, TableEntry>>): ModelPrice | undefined {
  const base = priceAt(table, 0);
  if (base === undefined) return undefined;
  const starts = Object.values(table).flatMap((entry) =>
    typeof entry === "object" ? entry.tiers.map(({ start }) => start) : [],
  );
  const tiers = [...new Set(starts)].sort((a, b) => a - b);
  if (tiers.length === 0) return base;
  return {
    ...base,
    tiers: tiers.flatMap((start) => {
      const price = priceAt(table, start + 1);
      return price === undefined ? [] : [{ aboveInputTokens: start, ...price }];
    }),
  };
}

/** A cache that has no price of its own costs what input costs. */
function priceAt(table: Readonly<Record<string, TableEntry>>, inputTokens: number): TokenPrice | undefined {
  const at = (key: string): number | undefined => {
    const entry = table[key];
    if (typeof entry !== "object") return entry;
    return entry.tiers.findLast(({ start }) => inputTokens > start)?.price ?? entry.base;
  };
  const inputUsd = at("input_mtok");
  const outputUsd = at("output_mtok");
  if (inputUsd === undefined || outputUsd === undefined) return undefined;
  return {
    inputUsd,
    outputUsd,
    cacheReadUsd: at("cache_read_mtok") ?? inputUsd,
    cacheWriteUsd: at("cache_write_mtok") ?? inputUsd,
  };
}
