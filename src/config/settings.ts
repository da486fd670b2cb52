// The sections of rlm.toml with the names, units and defaults that the rest of the program uses.

import { extname, resolve } from "node:path";
import { DEFAULT_ENVIRONMENT, type EnvironmentName } from "../environments/registry.ts";
import type { DockerOptions } from "../api/local.ts";
import type { TokenPrice } from "../protocol/usage.ts";
import type { ConfigFile, ModelTable, RLMTable } from "./schema.ts";
import { isCommandName } from "../util/is-command-name.ts";
import { omitUndefined } from "../util/omit-undefined.ts";

/** How models are asked. */
interface CommonSettings {
  readonly temperature?: number;
  readonly seed?: number;
  readonly reasoningEffort?: string;
  readonly maxTokens?: number;
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

/** A model by a name of the user's. */
export interface DefinedModel extends CommonSettings {
  readonly model: string;
  readonly description?: string;
  readonly backend?: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly strategy?: string;
}

/** An absent budget is no limit. */
export interface RLMSettings extends CommonSettings {
  readonly model?: string;
  readonly subModel?: string;
  readonly childModel?: string;
  readonly extractModel?: string;
  readonly backend?: string;
  readonly baseUrl?: string;
  readonly environment: EnvironmentName;
  readonly mode: "auto" | "rlm" | "direct";
  readonly maxDepth: number;
  readonly maxIterations: number;
  readonly tokenBudget?: number;
  readonly costBudgetUsd?: number;
  readonly callBudget: number;
  readonly toolBudget?: number;
  /** Null: no limit. */
  readonly timeoutMs: number | null;
  readonly maxConcurrency: number;
  /** Absent: true, except for scripted backends. */
  readonly cache?: boolean;
  readonly onLimit: "partial" | "throw";
  /** A shipped one, or the path of a file. Absent: the one that fits the model. */
  readonly strategy?: string;
  readonly systemPrompt?: string;
}

export interface BackendSettings {
  /** The kind of backend. Default: its name. */
  readonly type?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
}

export interface LimitSettings {
  readonly memoryBytes?: number;
  readonly diskBytes?: number;
  readonly processes?: number;
  readonly openFiles?: number;
  readonly branches?: number;
  readonly sessions?: number;
  readonly totalMemoryBytes?: number;
  readonly waiting?: number;
  readonly tasks?: number;
  readonly keptOutputBytes?: number;
  readonly readableOutputBytes?: number;
  readonly totalOutputBytes?: number;
}

export type Settings<Section extends keyof ConfigFile> = Readonly<NonNullable<ConfigFile[Section]>>;

export const DEFAULTS = {
  environment: DEFAULT_ENVIRONMENT,
  mode: "auto",
  maxDepth: 4,
  maxIterations: 30,
  callBudget: 1000,
  timeoutMs: 1_800_000,
  maxConcurrency: 64,
  onLimit: "partial",
} as const satisfies RLMSettings;

export function toRLMSettings(table: RLMTable): RLMSettings {
  const { sub_model, base_url, max_depth, max_iterations, token_budget, cost_budget, ...others } = table;
  const { call_budget, tool_budget, timeout, on_limit, system_prompt, child_model, extract_model, ...more } = others;
  const { reasoning_effort, max_tokens, extra_body, max_concurrency, ...plain } = more;
  return {
    ...DEFAULTS,
    ...omitUndefined({
      ...plain,
      subModel: sub_model,
      childModel: child_model,
      extractModel: extract_model,
      reasoningEffort: reasoning_effort,
      maxTokens: max_tokens,
      extraBody: extra_body,
      baseUrl: base_url,
      maxDepth: max_depth,
      maxIterations: max_iterations,
      tokenBudget: token_budget,
      costBudgetUsd: cost_budget,
      callBudget: call_budget,
      toolBudget: tool_budget,
      timeoutMs: timeout === 0 ? null : timeout === undefined ? undefined : timeout * 1000,
      maxConcurrency: max_concurrency,
      onLimit: on_limit,
      systemPrompt: system_prompt,
    }),
  };
}

export function toModel(table: ModelTable): DefinedModel {
  const { reasoning_effort, max_tokens, extra_body, context_window, max_output_tokens, ...plain } = table;
  return omitUndefined({
    ...plain,
    reasoningEffort: reasoning_effort,
    maxTokens: max_tokens,
    extraBody: extra_body,
    contextWindow: context_window,
    maxOutputTokens: max_output_tokens,
  });
}

export function toBackend(section: NonNullable<ConfigFile["backends"]>[string]): BackendSettings {
  const { type, base_url: baseUrl, api_key_env: apiKeyEnv } = section;
  return omitUndefined({ type, baseUrl, apiKeyEnv });
}

/** Cached tokens cost as much as input unless the price says otherwise. */
export function toPrice(section: NonNullable<ConfigFile["prices"]>[string]): TokenPrice {
  const { input, output, cache_read: cacheRead = input, cache_write: cacheWrite = input } = section;
  return { inputUsd: input, outputUsd: output, cacheReadUsd: cacheRead, cacheWriteUsd: cacheWrite };
}

export function toLimits(section: NonNullable<ConfigFile["limits"]>): LimitSettings {
  const { memory, disk, open_files, total_memory, kept_output, readable_output, total_output, ...plain } = section;
  return omitUndefined({
    ...plain,
    memoryBytes: memory,
    diskBytes: disk,
    openFiles: open_files,
    totalMemoryBytes: total_memory,
    keptOutputBytes: kept_output,
    readableOutputBytes: readable_output,
    totalOutputBytes: total_output,
  });
}

export function toDocker({ memory, ...plain }: NonNullable<ConfigFile["docker"]>): DockerOptions {
  return omitUndefined({ ...plain, memoryBytes: memory });
}

/** Resolves the path of a strategy's file relative to the folder. The name of a shipped one stays. */
export function resolveStrategy<Table extends Pick<RLMTable, "strategy">>(table: Table, folder: string): Table {
  const { strategy } = table;
  return strategy === undefined || extname(strategy) === "" ? table : { ...table, strategy: resolve(folder, strategy) };
}

/** Resolves the path relative to the folder of the file. */
export function resolveWheels({ wheels }: Settings<"wasm">, folder: string): Settings<"wasm"> {
  return omitUndefined({ wheels: wheels === undefined ? undefined : resolve(folder, wheels) });
}

/** Resolves paths relative to the folder of the file. */
export function resolvePaths(section: Settings<"sessions">, folder: string): Settings<"sessions"> {
  const { python, mounts } = section;
  return {
    ...section,
    ...(python !== undefined && { python: isCommandName(python) ? python : resolve(folder, python) }),
    ...(mounts !== undefined && { mounts: mounts.map((mount) => resolve(folder, mount)) }),
  };
}
