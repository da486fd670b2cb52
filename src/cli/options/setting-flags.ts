// Flags that set the keys of [rlm].

import { Option, type Command } from "commander";
import type { Flags } from "../../config/config.ts";
import { ENVIRONMENT_NAMES, type EnvironmentName } from "../../environments/registry.ts";
import {
  parseCountFrom,
  parseFields,
  parseInteger,
  parseSeconds,
  parseStrategy,
  parseTemperature,
  parseTextOrFile,
  parseUSD,
} from "./option-values.ts";

/** The parsed options of the command line. */
export interface SettingArguments {
  readonly model?: string;
  readonly subModel?: string;
  readonly childModel?: string;
  readonly extractModel?: string;
  readonly temperature?: number;
  readonly seed?: number;
  readonly reasoningEffort?: string;
  readonly maxTokens?: number;
  readonly extraBody?: Flags["extra_body"];
  readonly backend?: string;
  readonly baseUrl?: string;
  readonly mode?: "auto" | "rlm" | "direct";
  readonly maxDepth?: number;
  readonly maxIterations?: number;
  readonly tokenBudget?: number;
  readonly costBudget?: number;
  readonly callBudget?: number;
  readonly toolBudget?: number;
  /** In seconds. 0: no limit. */
  readonly timeout?: number;
  readonly maxConcurrency?: number;
  /** False: --no-cache. */
  readonly cache: boolean;
  readonly strategy?: string;
  readonly systemPrompt?: string;
  readonly env?: EnvironmentName;
}

export function addSettingFlags(command: Command): Command {
  return command
    .option("--model <name>", "the model that answers: its name, backend/name, or one of [models] in rlm.toml")
    .option("--sub-model <name>", "the model that answers llm_query (default: the same)")
    .option("--child-model <name>", "the model of nodes below the root (default: the same)")
    .option("--extract-model <name>", "the model that gives the best answer at a limit (default: the same)")
    .option("--temperature <n>", "of all models (default: the provider's)", parseTemperature)
    .option("--seed <n>", "of all models, for answers that can be repeated", parseInteger)
    .option("--reasoning-effort <effort>", "how much the models reason: low, medium, high")
    .option("--max-tokens <n>", "limit on each answer", parseCountFrom(1))
    .option("--extra-body <json>", "further fields of every request to a model, as a JSON object", parseFields)
    .option(
      "--backend <name>",
      "a provider such as openai or anthropic, openai-compatible, scripted, or one of rlm.toml",
    )
    .option("--base-url <address>", "the address of the provider")
    .addOption(
      new Option("--mode <mode>", "auto: small contexts go directly to the model").choices(["auto", "rlm", "direct"]),
    )
    .option("--max-depth <n>", "how deep rlm_query may go (default: 4)", parseCountFrom(0))
    .option("--max-iterations <n>", "blocks of code per node (default: 30)", parseCountFrom(1))
    .option("--token-budget <n>", "token limit of the whole run", parseCountFrom(1))
    .option("--cost-budget <usd>", "cost limit of the whole run", parseUSD)
    .option("--call-budget <n>", "limit of model calls (default: 1000)", parseCountFrom(1))
    .option("--tool-budget <n>", "limit of tool calls", parseCountFrom(1))
    .option("--timeout <seconds>", "for the whole run; 0 is no limit (default: 1800)", parseSeconds)
    .option("--max-concurrency <n>", "model calls at once (default: 64)", parseCountFrom(1))
    .option(
      "--strategy <name>",
      "how models are asked: frontier, small, local, or a file (default: by the model)",
      parseStrategy,
    )
    .option("--system-prompt <text>", "replaces the strategy's; @FILE reads it from a file", parseTextOrFile)
    .option("--no-cache", "do not answer from the cache")
    .addOption(new Option("--env <name>", "where code runs (default: local)").choices(ENVIRONMENT_NAMES));
}

/** In the form of the configuration file. */
export function toFlags(options: SettingArguments): Flags {
  const { model, subModel, childModel, extractModel, backend, baseUrl, mode, env, timeout, cache } = options;
  const { temperature, seed, reasoningEffort, maxTokens, extraBody, strategy, systemPrompt } = options;
  const { maxDepth, maxIterations, tokenBudget, costBudget, callBudget, toolBudget, maxConcurrency } = options;
  return {
    model,
    sub_model: subModel,
    child_model: childModel,
    extract_model: extractModel,
    temperature,
    seed,
    reasoning_effort: reasoningEffort,
    max_tokens: maxTokens,
    extra_body: extraBody,
    backend,
    base_url: baseUrl,
    mode,
    environment: env,
    max_depth: maxDepth,
    max_iterations: maxIterations,
    token_budget: tokenBudget,
    cost_budget: costBudget,
    call_budget: callBudget,
    tool_budget: toolBudget,
    timeout,
    max_concurrency: maxConcurrency,
    strategy,
    system_prompt: systemPrompt,
    ...(!cache && { cache }),
  };
}
