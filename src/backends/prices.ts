// Prices of models: from the configuration, else from the maintained table of @pydantic/genai-prices.
//
// An unknown price is undefined and never zero: with zero, a cost limit would let everything pass.

import type { ReportedUsage, TokenPrice } from "../protocol/usage.ts";
import type { ModelPrice } from "./backend.ts";
import { findInTable, type TableLookup } from "./models/price-table.ts";

export interface PriceOptions extends TableLookup {
  /** By model, or by `backend/model`. They take precedence over the table. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}

/** Undefined: not known. The table is loaded on first use. */
export async function priceOf(
  backend: string,
  model: string,
  options: PriceOptions = {},
): Promise<ModelPrice | undefined> {
  const configured = own(options.prices, `${backend}/${model}`) ?? own(options.prices, model);
  if (configured !== undefined) return configured;
  const found = await findInTable(backend, model, options);
  return found === undefined ? undefined : toModelPrice(found.model_price);
}

/** In USD. A cost that the provider reported takes precedence. */
export function costOf(usage: ReportedUsage, price: ModelPrice): number {
  if (typeof usage.costUsd === "number") return usage.costUsd;
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

/** An upper bound: nothing is read from a cache, everything may be written to one, at the highest tier that the input can reach. */
export function worstCostUsd(price: ModelPrice, inputTokens: number, outputTokens: number): number {
  const { input, output } = worstPrice(price, inputTokens);
  return (inputTokens * input + outputTokens * output) / 1_000_000;
}

/** The most output tokens for which `worstCostUsd` is at most this; negative where the input alone costs more. */
export function outputForUsd(price: ModelPrice, inputTokens: number, usd: number): number {
  const { input, output } = worstPrice(price, inputTokens);
  const rest = usd * 1_000_000 - inputTokens * input;
  if (rest < 0) return -1;
  return output === 0 ? Infinity : Math.floor(rest / output);
}

function worstPrice(price: ModelPrice, inputTokens: number): { readonly input: number; readonly output: number } {
  const reached = [price, ...(price.tiers ?? []).filter(({ aboveInputTokens }) => inputTokens > aboveInputTokens)];
  return {
    input: Math.max(
      ...reached.map(({ inputUsd, cacheReadUsd, cacheWriteUsd }) => Math.max(inputUsd, cacheReadUsd, cacheWriteUsd)),
    ),
    output: Math.max(...reached.map(({ outputUsd }) => outputUsd)),
  };
}

function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
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

/** Cached tokens without a price of their own cost what input costs. */
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
