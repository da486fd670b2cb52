// The orchestrator: a backend, models, limits and tools, set up once. Each question is a run.

import { z } from "zod";
import type { Backend, ModelPrice } from "../backends/backend.ts";
import { Dispatcher, type DispatcherOptions } from "../backends/dispatch/dispatcher.ts";
import type { LanguageModel } from "../backends/providers/language-model.ts";
import type { CallHandler } from "../session/options.ts";
import type { RunId } from "../protocol/ids.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import { ledgerAxis, type LedgerLimits } from "../protocol/runs.ts";
import type { Session } from "../session/session.ts";
import { ToolRegistry } from "../tools/registry.ts";
import type { Tool, ZodSchema } from "../tools/tool.ts";
import { checkCount, checkDuration } from "../util/check-number.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { compileSchema, type JSONSchema } from "./reply/answer-schema.ts";
import { BackendModels } from "./calls/backend-models.ts";
import { nameModels, type NamedModels } from "./calls/model-names.ts";
import { toContextItems, type Context } from "./context/context-items.ts";
import type { CallCache } from "./ports.ts";
import { Run } from "./run.ts";

export interface RLMLimits extends LedgerLimits {
  /** Nodes with a session below the root. Default: 4. */
  readonly maxDepth?: number;
  /** Steps of one node. Default: 30. */
  readonly maxIterations?: number;
}

export interface RLMOptions {
  /**
   * `openai`, `anthropic`, `openai-compatible`, `scripted`, or an own implementation; it serves all models given by name. Default:
   * `openai`, and none where all models are objects.
   */
  readonly backend?: string | Backend;
  readonly baseUrl?: string;
  /** Default: from the environment. It never reaches a session, a log or an error. */
  readonly apiKey?: string;
  /** Of the root and of nodes below it: a name, or a language model of the AI SDK, whose name is its `modelId`. */
  readonly model: string | LanguageModel;
  /** Answers `llm_query`. Default: the model. */
  readonly subModel?: string | LanguageModel;
  /** For reasoning models, in the provider's terms: `low`, `medium`, `high`. Other models are called without it. Default: the provider's. */
  readonly reasoningEffort?: string;
  /** For the whole run, all nodes together. Default: 1,000 model calls, 30 minutes; no limit on tokens and cost. */
  readonly limits?: RLMLimits;
  /** `auto` (default): small questions go straight to the model. */
  readonly mode?: "auto" | "rlm" | "direct";
  /** At a limit: return the best answer that there is (default), or throw an error. */
  readonly onLimit?: "partial" | "throw";
  readonly tools?: readonly Tool[];
  /** Whether identical calls are answered from memory and disk. Default: true, except for the scripted backend. */
  readonly cache?: boolean;
  /** By model. They take precedence over the built-in table. */
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
  /** Whether its regular expressions are tried on the answer. Use false for an untrusted schema, which could block the host. Default: true. */
  readonly patterns?: boolean;
  /** Overrides the options of the RLM for this run. The sub-model is the model by default. */
  readonly model?: string;
  readonly subModel?: string;
  readonly mode?: RLMOptions["mode"];
  /** Each replaces the limit of the RLM for this run. */
  readonly limits?: RLMLimits;
  readonly signal?: AbortSignal;
}

/** What the runtime provides. */
export interface RLMPorts {
  readonly openSession: (onCall: CallHandler) => Promise<Session>;
  readonly cache: CallCache;
  readonly makeRunId: () => RunId;
  /** Called before the first event of a run. */
  readonly onRun: (run: Run, context: ReturnType<typeof toContextItems>, secrets: readonly string[]) => void;
  readonly onEvent: (runId: RunId, event: RunEvent) => void;
}

const DEFAULT_LIMITS = { maxDepth: 4, maxIterations: 30, llmCalls: 1_000, wallMs: 30 * 60_000 };
const DEFAULT_CELL_TIMEOUT_MS = 120_000;

export class RLM {
  readonly #options: Omit<RLMOptions, "model" | "subModel">;
  readonly #names: Pick<NamedModels, "model" | "subModel">;
  readonly #ports: RLMPorts;
  readonly #models: BackendModels;
  readonly #tools: ToolRegistry;

  /** Use `runtime.rlm`. */
  constructor({ model, subModel, ...options }: RLMOptions, ports: RLMPorts) {
    const { objects, needsBackend, ...names } = nameModels(model, subModel);
    checkLimits(options.limits ?? {});
    checkDuration("cellTimeoutMs", options.cellTimeoutMs);
    this.#options = options;
    this.#names = names;
    this.#ports = ports;
    this.#tools = new ToolRegistry(options.tools ?? []);
    const { backend = needsBackend ? "openai" : undefined, baseUrl, apiKey, prices } = options;
    this.#models = new BackendModels(
      {
        backend,
        objects,
        ...(baseUrl !== undefined && { baseUrl }),
        ...(apiKey !== undefined && { apiKey }),
        ...(prices !== undefined && { prices }),
      },
      new Dispatcher(options.dispatcher),
    );
  }

  /** The limits of every run that does not set its own. */
  get limits(): RLMLimits & { readonly maxDepth: number; readonly maxIterations: number } {
    return { ...DEFAULT_LIMITS, ...this.#options.limits };
  }

  /** Throws BackendConnectionError for an unknown backend or a missing key. */
  async check(): Promise<void> {
    await this.#models.open();
  }

  /** Starts at once. Throws a TypeError or RangeError for invalid options. */
  run({ query, context, outputSchema, patterns = true, limits: own = {}, signal, ...chosen }: RunRequest): Run {
    if (typeof query !== "string" || query.trim() === "") throw new TypeError("Cannot run: give a question");
    checkLimits(own);
    const { onLimit = "partial" } = this.#options;
    const { model, subModel = model, mode = "auto" } = { ...this.#options, ...this.#names, ...omitUndefined(chosen) };
    if (model === "" || subModel === "") throw new TypeError("Cannot run: the name of a model is empty");
    const { cache = this.#models.backendOf(model) !== "scripted" } = this.#options;
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
        onEvent: (event) => this.#ports.onEvent(id, event),
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
    if (!(ledgerAxis.options as readonly string[]).includes(axis))
      throw new TypeError(`Cannot use limits.${axis}: there is no such limit`);
    if (value !== undefined && !(typeof value === "number" && value > 0)) {
      throw new RangeError(`Cannot use ${value} as limits.${axis}: it must be a positive number`);
    }
  }
}
