// One question given to the orchestrator: a tree of nodes with one ledger and one sequence of events.
//
// The result never rejects because of what models or code did, unless `onLimit` is `throw`. Cancellation and the time limit end every
// call and every session of the tree.

import { TokenBudgetExhausted, ToolBudgetExhausted, type RLMError } from "../errors.ts";
import type { Clock } from "../backends/dispatch/clock.ts";
import type { RunId } from "../protocol/ids.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import type { NodeId, RunResult } from "../protocol/runs.ts";
import { onAbort } from "../util/async/on-abort.ts";
import type { FollowOptions, Positioned } from "../util/async/replay-log.ts";
import { Concurrency } from "./ledger/concurrency.ts";
import { answerDirectly, isSmall } from "./calls/direct.ts";
import { EventLog } from "./events/event-log.ts";
import { Ledger, ROOT } from "./ledger/ledger.ts";
import { ModelCalls } from "./calls/model-calls.ts";
import { ModelChoice } from "./models/model-choice.ts";
import { Node } from "./node.ts";
import type { CallCache, Models } from "./ports.ts";
import { EventEmitter } from "./events/event-emitter.ts";
import type { NodeOutcome, NodeRequest, RunContext, RunSettings } from "./run-context.ts";
import { digestOf } from "./strategy/strategy-of.ts";
import { TimeLimit } from "./ledger/time-limit.ts";
import { ToolCalls } from "./calls/tool-calls.ts";

export interface RunPorts {
  readonly models: Models;
  /** Receives every event in order. Must not throw. */
  readonly onEvent: (event: RunEvent) => void;
  readonly cache: CallCache | undefined;
  /** Time limits follow it. Events carry the time of day. */
  readonly clock: Clock;
  readonly openSession: RunContext["openSession"];
}

/** Nodes with a session at once, per depth. */
const MAX_NODES_PER_DEPTH = 16;

export class Run implements AsyncIterable<RunEvent> {
  readonly id: RunId;
  readonly result: Promise<RunResult>;
  readonly events: EventEmitter;
  readonly modelCalls: ModelCalls;
  readonly modelChoice: ModelChoice;
  readonly toolCalls: ToolCalls;
  readonly concurrency = new Concurrency(MAX_NODES_PER_DEPTH);
  readonly openSession: RunPorts["openSession"];
  /** Why it is not recorded, or only in part. Set by whoever records it. */
  notRecorded: string | undefined;
  readonly #ledger: Ledger;
  readonly #log = new EventLog();
  /** Aborts everything but finishing. */
  readonly #work = new AbortController();
  readonly #finishing = new AbortController();
  readonly clock: Clock;
  readonly #beganAt: number;
  #startedAt: number;
  #end: Extract<RunEvent, { readonly type: "run-end" }> | undefined;
  #settings: RunSettings;
  #nodes = 0;
  #failure: RLMError | undefined;

  constructor(settings: RunSettings, ports: RunPorts) {
    const { models, onEvent, cache, clock, openSession } = ports;
    this.id = settings.id;
    this.#settings = settings;
    this.openSession = openSession;
    this.clock = clock;
    this.#beganAt = clock.now();
    this.#startedAt = Date.now();
    this.events = new EventEmitter(settings.id, Date.now, (event) => {
      if (event.type === "run-start") this.#startedAt = event.time;
      if (event.type === "run-end") this.#end = event;
      onEvent(event);
      this.#log.push(event);
    });
    const { events } = this;
    const { modelSettings, strategyOf } = settings;
    this.modelCalls = new ModelCalls({ models, cache, events, settings: modelSettings, strategyOf });
    this.modelChoice = new ModelChoice(rolesOf(settings), models);
    this.toolCalls = new ToolCalls(events, (limit) => {
      if (settings.onLimit === "throw" && limit.ownerId === ROOT) this.#work.abort(limit);
    });
    this.#ledger = new Ledger(settings.limits, {
      now: () => Math.floor(clock.now()),
      onLimit: (notice) => events.emit(notice),
    });
    this.result = this.#solve();
    this.result.catch(() => {}); // a result that nobody awaits must not end the process
  }

  /** Without the context once it has ended: ended runs are kept for a while, and contexts are large. */
  get settings(): RunSettings {
    return this.#settings;
  }

  /** The time of its first event, in milliseconds since the epoch. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** The time of its last event. Undefined: it is still running. */
  get endedAt(): number | undefined {
    return this.#end?.time;
  }

  /** The result in its last event, also where `result` rejects. Undefined: it is still running. */
  get outcome(): RunResult | undefined {
    return this.#end?.result;
  }

  /** The approximate number of characters in its events. */
  get weight(): number {
    return this.#log.characters;
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.#log[Symbol.asyncIterator]();
  }

  /** Its events with the cursor after each, from which a later reader can resume. Throws a RangeError for an invalid cursor. */
  follow(options?: FollowOptions): AsyncGenerator<Positioned<RunEvent>, void, undefined> {
    return this.#log.follow(options);
  }

  cancel(): void {
    this.#work.abort(new Error("the run was cancelled"));
    this.#finishing.abort(new Error("the run was cancelled"));
  }

  /** For calls that finish a run. */
  get finishingSignal(): AbortSignal {
    return this.#finishing.signal;
  }

  /** Ends the run; its result rejects with this error. */
  fail(error: RLMError): void {
    this.#failure ??= error;
    this.#work.abort(error);
    this.#finishing.abort(error);
  }

  createNode({ parent, ...request }: NodeRequest): Node {
    const { grant } = request;
    const id: NodeId = `n${this.#nodes}`;
    this.#nodes += 1;
    const account = parent === undefined ? this.#ledger.openRoot() : parent.open(id, grant);
    return new Node(this, { ...request, id, account });
  }

  async #solve(): Promise<RunResult> {
    const { query, model, subModel, childModel, extractModel = null, limits, maxDepth } = this.settings;
    const { signal, strategyOf } = this.settings;
    const stopListening = onAbort(signal, () => this.cancel());
    if (signal?.aborted === true) this.cancel();
    const time = limits.wallMs === undefined ? undefined : new TimeLimit(ROOT, limits.wallMs, this.clock);
    onAbort(time?.work, () => this.#work.abort(time?.work.reason));
    onAbort(time?.finishing, () => this.#finishing.abort(time?.finishing.reason));
    try {
      await Promise.resolve(); // lets the caller subscribe before the first event
      const strategy = strategyOf(model);
      const { name } = strategy;
      const models = { model, subModel, childModel, extractModel };
      const start = { query, ...models, limits, maxDepth, strategy: { name, digest: digestOf(strategy) } };
      this.events.emit({ type: "run-start", ...start });
      const result = this.#toResult(await this.#outcome());
      this.events.emit({ type: "run-end", result });
      if (this.#failure !== undefined) throw this.#failure;
      this.#throwAtLimit(result);
      return result;
    } finally {
      time?.stop();
      stopListening();
      this.#work.abort(new Error("the run is over"));
      this.#finishing.abort(new Error("the run is over"));
      this.#log.end();
      this.#settings = { ...this.#settings, context: [] };
    }
  }

  #outcome(): Promise<NodeOutcome> {
    const { query, context, schema, tools, model, mode, strategyOf } = this.settings;
    const { signal } = this.#work;
    const root = this.createNode({ parentId: null, depth: 0, query, context, schema, tools, model, signal });
    const { directBytes } = strategyOf(model).calls;
    const isDirect = mode === "auto" ? tools.names.length === 0 && isSmall(context, directBytes) : mode === "direct";
    const hasSession = mode === "auto";
    return root.solve(isDirect ? (node) => answerDirectly(this, { ...node, signal, hasSession }) : undefined);
  }

  #throwAtLimit({ stopReason, answer, usage }: RunResult): void {
    if (this.settings.onLimit !== "throw") return;
    const { tokens, toolCalls } = usage.total;
    if (stopReason === "tokens")
      throw new TokenBudgetExhausted({ used: tokens, limit: this.settings.limits.tokens ?? 0, partial: answer });
    if (stopReason === "toolCalls") {
      throw new ToolBudgetExhausted({ used: toolCalls, limit: this.settings.limits.toolCalls ?? 0, partial: answer });
    }
  }

  #toResult(outcome: NodeOutcome): RunResult {
    const { status, stopReason, answer, data, why } = this.#failure === undefined ? outcome : toFailed(this.#failure);
    const usage = { ...this.#ledger.usage(), wallMs: Math.round(this.clock.now() - this.#beganAt) };
    return { runId: this.id, status, stopReason, answer, ...(data !== undefined && { data }), why, usage };
  }
}

/** The default of `llm_query` first. */
function rolesOf({ model, subModel, childModel, extractModel = model }: RunSettings): readonly string[] {
  return [subModel, model, childModel, extractModel];
}

function toFailed({ message }: RLMError): NodeOutcome {
  return { status: "failed", stopReason: "error", answer: null, why: message };
}
