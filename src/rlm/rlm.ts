// The orchestrator: a backend, models, limits and tools, set up once. Each question is a run.

import type { BackendDefinition, ModelDefinition, ModelSettings } from "../api/models.ts";
import type { Backend, ModelPrice } from "../backends/backend.ts";
import { systemClock, type Clock } from "../backends/dispatch/clock.ts";
import { Dispatcher, type DispatcherOptions } from "../backends/dispatch/dispatcher.ts";
import type { LanguageModel } from "../backends/providers/language-model.ts";
import { toJSONSchema } from "../api/checks/to-json-schema.ts";
import type { AnswerSchema } from "../api/schema.ts";
import { IdReusedError } from "../errors.ts";
import { checkWorkId, type RunId } from "../protocol/ids.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import { ledgerAxis, type LedgerLimits } from "../protocol/runs.ts";
import type { WorkerCallHandler } from "../session/options.ts";
import type { Session } from "../session/session.ts";
import { ToolRegistry } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";
import { checkCount, checkDuration } from "../util/check-number.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { compileSchema, fromZod } from "./reply/answer-schema.ts";
import { BackendModels } from "./models/backend-models.ts";
import { nameModels, type ModelRoles } from "./models/model-names.ts";
import { toContextItems, type Context } from "./context/context-items.ts";
import { ModelChoice } from "./models/model-choice.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { CallCache } from "./ports.ts";
import { Run } from "./run.ts";
import type { RunSettings } from "./run-context.ts";
import { strategyOf, type StrategyChoice } from "./strategy/strategy-of.ts";

export interface RLMLimits extends LedgerLimits {
  /** Nodes with a session below the root. Default: 4. */
  readonly maxDepth?: number;
  /** Steps of one node. Default: 30. */
  readonly maxIterations?: number;
}

/** What models have that do not say otherwise. */
type CommonSettings = Pick<ModelSettings, "temperature" | "seed" | "reasoningEffort" | "maxTokens" | "extraBody">;

export interface RLMOptions extends CommonSettings {
  /**
   * A name of `backends`, a provider (`openai`, `anthropic`, `gemini`, ...), `openai-compatible`, `scripted`, or your own implementation. All
   * models without a backend of their own go to it. Default, for each model: the part before the first slash of its name, if that is a
   * backend; else `anthropic` for `claude...`, `gemini` for `gemini...`, and `openai`.
   */
  readonly backend?: string | Backend;
  readonly baseUrl?: string;
  /** Default: from the environment. It never reaches a session, a log or an error. */
  readonly apiKey?: string;
  /** Backends by name, beside the built-in ones. */
  readonly backends?: Readonly<Record<string, BackendDefinition | Backend>>;
  /** Models by a name of the caller's, for roles and for `llm_query(model=...)`. */
  readonly models?: Readonly<Record<string, ModelDefinition | LanguageModel>>;
  /** Of the root: a name, or a language model of the AI SDK, whose name is its `modelId`. */
  readonly model: string | LanguageModel;
  /** Answers `llm_query`. Default: the model. */
  readonly subModel?: string | LanguageModel;
  /** Of nodes below the root. Default: the model. */
  readonly childModel?: string | LanguageModel;
  /** Gives the best answer at a limit. Default: the model of the node. */
  readonly extractModel?: string | LanguageModel;
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
  /** How models are asked, and what they are shown: a shipped strategy, a file, or a value. Default: the one that fits the model. */
  readonly strategy?: StrategyChoice;
  /** Replaces the system prompt of the strategy. */
  readonly systemPrompt?: string;
  readonly dispatcher?: DispatcherOptions;
  /** For the limits on time. Default: the system's. */
  readonly clock?: Clock;
}

export interface RunRequest {
  /** The same id with the same request is the same run, while the runtime keeps it. Default: generated. */
  readonly id?: string;
  readonly query: string;
  readonly context?: Context;
  /** JSON Schema, or a schema of a library that offers it, as zod 4 does: the form of the answer, as `data` of the result. */
  readonly schema?: AnswerSchema;
  /** Whether its regular expressions are tried on the answer. Use false for an untrusted schema, which could block the host. Default: true. */
  readonly patterns?: boolean;
  /** Each overrides the option of the RLM for this run. */
  readonly model?: string;
  readonly subModel?: string;
  readonly childModel?: string;
  readonly extractModel?: string;
  /** Of all models in this run, instead of their own. */
  readonly temperature?: number;
  readonly seed?: number;
  readonly mode?: RLMOptions["mode"];
  readonly onLimit?: RLMOptions["onLimit"];
  /** Each replaces the limit of the RLM for this run. */
  readonly limits?: RLMLimits;
  readonly signal?: AbortSignal;
}

/** What the runtime provides. */
export interface RLMPorts {
  readonly openSession: (onCall: WorkerCallHandler) => Promise<Session>;
  readonly cache: CallCache;
  readonly makeRunId: () => RunId;
  /** The run with this id. Undefined: it is free. `recorded`: its result is on disk only. */
  readonly findRun: (id: RunId) => Run | "recorded" | undefined;
  /** Called before the first event of a run. */
  readonly onRun: (run: Run, context: ReturnType<typeof toContextItems>, secrets: readonly string[]) => void;
  readonly onEvent: (runId: RunId, event: RunEvent) => void;
}

const DEFAULT_LIMITS = { maxDepth: 4, maxIterations: 30, llmCalls: 1_000, wallMs: 30 * 60_000 };
const DEFAULT_CELL_TIMEOUT_MS = 120_000;

export class RLM {
  readonly #options: Omit<RLMOptions, keyof ModelRoles>;
  readonly #roles: ModelRoles;
  readonly #ports: RLMPorts;
  readonly #models: BackendModels;
  readonly #tools: ToolRegistry;
  readonly #strategyOf: RunSettings["strategyOf"];

  /** Use `runtime.rlm`. */
  constructor({ model, subModel, childModel, extractModel, ...options }: RLMOptions, ports: RLMPorts) {
    const { roles, named } = nameModels({ model, subModel, childModel, extractModel }, options.models);
    checkLimits(options.limits ?? {});
    checkDuration("cellTimeoutMs", options.cellTimeoutMs);
    this.#options = options;
    this.#roles = roles;
    this.#ports = ports;
    this.#tools = new ToolRegistry(options.tools ?? []);
    const { backend, baseUrl, apiKey, backends, prices } = options;
    const { temperature, seed, reasoningEffort, maxTokens, extraBody } = options;
    const settings = omitUndefined({ temperature, seed, reasoningEffort, maxTokens, extraBody });
    const keys = omitUndefined({ baseUrl, apiKey });
    const models = { backend, backends, ...keys, named, settings, prices };
    this.#models = new BackendModels(models, new Dispatcher(options.dispatcher));
    const { strategy, systemPrompt } = options;
    const ofModels = new Map<string, StrategyChoice>();
    for (const [name, { settings: own }] of named) if (own.strategy !== undefined) ofModels.set(name, own.strategy);
    this.#strategyOf = strategyOf({ strategy, systemPrompt, ofModels }, (name) => this.#models.locationOf(name));
  }

  /** Which models those may choose who do not configure this. `maxModels`: how many others than the configured ones. */
  modelChoice(maxModels: number): ModelChoice {
    return new ModelChoice(namesOf(this.#roles), this.#models, maxModels);
  }

  /** The limits of every run that does not set its own. */
  get limits(): RLMLimits & { readonly maxDepth: number; readonly maxIterations: number } {
    return { ...DEFAULT_LIMITS, ...omitUndefined(this.#options.limits ?? {}) };
  }

  /** Throws BackendConnectionError for an unknown backend or a missing key. */
  async check(): Promise<void> {
    await this.#models.open(namesOf(this.#roles));
  }

  /**
   * Starts at once; with the id of a run that is live or kept, and the same request, returns that run. Throws IdReusedError, or a
   * TypeError or RangeError for invalid options.
   */
  run(request: RunRequest): Run {
    const { id, signal } = request;
    const facts = this.#parse(request);
    const fingerprint = id === undefined ? undefined : fingerprintOf(facts);
    const known = id === undefined ? undefined : this.#find(id, fingerprint);
    if (known !== undefined) return known;
    return this.#start({
      ...facts,
      id: id === undefined ? this.#ports.makeRunId() : (id as RunId),
      fingerprint,
      tools: this.#tools,
      cellTimeoutMs: this.#options.cellTimeoutMs ?? DEFAULT_CELL_TIMEOUT_MS,
      strategyOf: this.#strategyOf,
      signal,
    });
  }

  /** Throws a TypeError or RangeError for what can never run. Starts nothing. */
  checkRequest(request: RunRequest): void {
    this.#parse(request);
  }

  #parse({ query, context, schema: form, patterns = true, limits: own = {}, ...others }: RunRequest) {
    if (typeof query !== "string" || query.trim() === "") throw new TypeError("Cannot run: give a question");
    checkLimits(own);
    const { mode = "auto", onLimit = "partial" } = { ...this.#options, ...omitUndefined(others) };
    const { temperature, seed } = others;
    const roles = this.#rolesOf(others);
    const { maxDepth, maxIterations, ...limits } = { ...this.limits, ...omitUndefined(own) };
    const items = toContextItems(context);
    const schema = form === undefined ? undefined : toJSONSchema(form, fromZod);
    if (schema !== undefined) compileSchema(schema, { patterns });
    return {
      ...roles,
      modelSettings: omitUndefined({ temperature, seed }),
      query,
      context: items,
      schema,
      patterns,
      mode,
      maxDepth,
      maxIterations,
      limits,
      onLimit,
    };
  }

  #rolesOf({ model, subModel, childModel, extractModel }: Partial<ModelRoles>) {
    const others = omitUndefined({ model, subModel, childModel, extractModel });
    const chosen: ModelRoles = { ...this.#roles, ...others };
    if (namesOf(chosen).includes("")) throw new TypeError("Cannot run: the name of a model is empty");
    const { model: root, subModel: sub = root, childModel: child = root, extractModel: extract } = chosen;
    return { model: root, subModel: sub, childModel: child, extractModel: extract };
  }

  /** Undefined: the id is free. Throws IdReusedError where it names another request. */
  #find(id: string, fingerprint: string | undefined): Run | undefined {
    checkWorkId(id);
    const known = this.#ports.findRun(id as RunId);
    if (known === undefined) return undefined;
    if (known !== "recorded" && known.settings.fingerprint === fingerprint) return known;
    throw new IdReusedError({ id, kind: "run" });
  }

  #start(settings: RunSettings): Run {
    const { id, context } = settings;
    const used = namesOf(settings);
    const { cache = !used.some((model) => this.#models.isScripted(model)) } = this.#options;
    const run = new Run(settings, {
      models: this.#models,
      onEvent: (event) => this.#ports.onEvent(id, event),
      cache: cache ? this.#ports.cache : undefined,
      clock: this.#options.clock ?? systemClock,
      openSession: this.#ports.openSession,
    });
    this.#ports.onRun(run, context, this.#models.secretsOf(used));
    return run;
  }
}

function namesOf({ model, subModel, childModel, extractModel }: ModelRoles): readonly string[] {
  return [model, subModel, childModel, extractModel].filter((name) => name !== undefined);
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
