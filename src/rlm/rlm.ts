// The orchestrator, set up once: a backend, models, limits, tools. Each question is a run.

import { z } from "zod";
import type { Backend, ModelPrice } from "../backends/backend.ts";
import { Dispatcher, type DispatcherOptions } from "../backends/dispatch/dispatcher.ts";
import type { CallHandler } from "../session/session-options.ts";
import type { RunId } from "../protocol/ids.ts";
import type { LedgerLimits, RunEvent } from "../protocol/runs.ts";
import type { Session } from "../session/session.ts";
import { ToolRegistry } from "../tools/registry.ts";
import type { Tool, ZodSchema } from "../tools/tool.ts";
import { checkCount, checkDuration } from "../util/check-number.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { compileSchema, type JSONSchema } from "./reply/answer-schema.ts";
import { BackendModels } from "./calls/backend-models.ts";
import { toContextItems, type Context } from "./context/context-items.ts";
import type { CallCache } from "./ports.ts";
import { Run } from "./run.ts";

export interface RLMLimits extends LedgerLimits {
  /** Nodes with a session below the root. Default: 4. */
  readonly maxDepth?: number;
  /** Blocks of code of one node. Default: 30. */
  readonly maxIterations?: number;
}

export interface RLMOptions {
  /** `openai`, `anthropic`, `openai-compatible`, `scripted`, or one of one's own. Default: `openai`. */
  readonly backend?: string | Backend;
  readonly baseUrl?: string;
  /** Default: from the environment. It never reaches a session, a log or an error. */
  readonly apiKey?: string;
  /** Of the root and of nodes below it. */
  readonly model: string;
  /** Answers `llm_query`. Default: the model. */
  readonly subModel?: string;
  /** How much models that reason should, in the words of the provider: `low`, `medium`, `high`. Others are asked without. Default: the provider's. */
  readonly reasoningEffort?: string;
  /** Of the whole run, all nodes together. Default: 1,000 calls of models, 30 minutes; no limit on tokens and cost. */
  readonly limits?: RLMLimits;
  /** `auto` (default): what is small goes straight to the model. */
  readonly mode?: "auto" | "rlm" | "direct";
  /** What a limit does: the best answer that there is (default), or an error. */
  readonly onLimit?: "partial" | "throw";
  readonly tools?: readonly Tool[];
  /** Whether identical calls are answered from memory and disk. Default: true, but for what a script says. */
  readonly cache?: boolean;
  /** By model; they win over the table that comes with us. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
  /** For one block of code. Default: 120 s. */
  readonly cellTimeoutMs?: number;
  readonly dispatcher?: DispatcherOptions;
}

export interface RunRequest {
  readonly query: string;
  readonly context?: Context;
  /** JSON Schema or a zod schema: the form of the answer, as `data` of the result. */
  readonly outputSchema?: JSONSchema | ZodSchema;
  /** Whether its regular expressions are tried on the answer: false where strangers wrote it, who could stop the host with one. Default: true. */
  readonly patterns?: boolean;
  /** For this run, in place of what all runs have. A sub-model that nobody named is the model. */
  readonly model?: string;
  readonly subModel?: string;
  readonly mode?: RLMOptions["mode"];
  /** For this run: each replaces the one that all runs have. */
  readonly limits?: RLMLimits;
  readonly signal?: AbortSignal;
}

/** What a run is given by those around it. */
export interface RLMPorts {
  readonly openSession: (onCall: CallHandler) => Promise<Session>;
  readonly cache: CallCache;
  readonly makeRunId: () => RunId;
  /** Hears of a run before its first event. */
  readonly onRun: (run: Run, context: ReturnType<typeof toContextItems>, secrets: readonly string[]) => void;
  readonly journal: (runId: RunId, event: RunEvent) => void;
}

const DEFAULT_LIMITS = { maxDepth: 4, maxIterations: 30, llmCalls: 1_000, wallMs: 30 * 60_000 };
const DEFAULT_CELL_TIMEOUT_MS = 120_000;
const AXES = ["tokens", "costUsd", "llmCalls", "toolCalls", "wallMs", "iterations"] as const;

export class RLM {
  readonly #options: RLMOptions;
  readonly #ports: RLMPorts;
  readonly #models: BackendModels;
  readonly #tools: ToolRegistry;

  /** Use `runtime.rlm`. */
  constructor(options: RLMOptions, ports: RLMPorts) {
    if (typeof options.model !== "string" || options.model === "")
      throw new TypeError("Cannot set up a run: name a model");
    checkLimits(options.limits ?? {});
    checkDuration("cellTimeoutMs", options.cellTimeoutMs);
    this.#options = options;
    this.#ports = ports;
    this.#tools = new ToolRegistry(options.tools ?? []);
    const { backend = "openai", baseUrl, apiKey, prices } = options;
    this.#models = new BackendModels(
      {
        backend,
        ...(baseUrl !== undefined && { baseUrl }),
        ...(apiKey !== undefined && { apiKey }),
        ...(prices !== undefined && { prices }),
      },
      new Dispatcher(options.dispatcher),
    );
  }

  /** Of every run, unless it has its own. */
  get limits(): RLMLimits & { readonly maxDepth: number; readonly maxIterations: number } {
    return { ...DEFAULT_LIMITS, ...this.#options.limits };
  }

  /** Whether models can be asked at all: throws BackendConnectionError for an unknown backend or a missing key. */
  async check(): Promise<void> {
    await this.#models.open();
  }

  /** Starts at once. Throws a TypeError or RangeError for what can never be run. */
  run({ query, context, outputSchema, patterns = true, limits: own = {}, signal, ...chosen }: RunRequest): Run {
    if (typeof query !== "string" || query.trim() === "") throw new TypeError("Cannot run: give a question");
    checkLimits(own);
    const { onLimit = "partial" } = this.#options;
    const { model, subModel = model, mode = "auto" } = { ...this.#options, ...omitUndefined(chosen) };
    if (model === "" || subModel === "") throw new TypeError("Cannot run: the name of a model is empty");
    const { cache = this.#models.backendOf() !== "scripted" } = this.#options;
    const { maxDepth, maxIterations, ...limits } = { ...this.limits, ...own };
    const items = toContextItems(context);
    const schema = outputSchema === undefined ? undefined : toJSONSchema(outputSchema);
    if (schema !== undefined) compileSchema(schema, { patterns });
    const id = this.#ports.makeRunId();
    const run = new Run(
      {
        id,
        query,
        context: items,
        schema,
        patterns,
        tools: this.#tools,
        model,
        subModel,
        childModel: model,
        reasoningEffort: this.#options.reasoningEffort,
        mode,
        maxDepth,
        maxIterations,
        limits,
        onLimit,
        cellTimeoutMs: this.#options.cellTimeoutMs ?? DEFAULT_CELL_TIMEOUT_MS,
        signal,
      },
      {
        models: this.#models,
        journal: (event) => this.#ports.journal(id, event),
        cache: cache ? this.#ports.cache : undefined,
        now: () => Date.now(),
        openSession: this.#ports.openSession,
      },
    );
    this.#ports.onRun(run, items, this.#models.secrets);
    return run;
  }
}

function toJSONSchema(schema: JSONSchema | ZodSchema): JSONSchema {
  return schema instanceof z.ZodType ? z.toJSONSchema(schema, { io: "input" }) : (schema as JSONSchema);
}

function checkLimits({ maxDepth, maxIterations, ...limits }: RLMLimits): void {
  checkCount("limits.maxDepth", maxDepth, 0);
  checkCount("limits.maxIterations", maxIterations, 1);
  for (const [axis, value] of Object.entries(limits)) {
    if (!(AXES as readonly string[]).includes(axis))
      throw new TypeError(`Cannot use limits.${axis}: there is no such limit`);
    if (value !== undefined && !(typeof value === "number" && value > 0)) {
      throw new RangeError(`Cannot use ${value} as limits.${axis}: it must be a positive number`);
    }
  }
}
