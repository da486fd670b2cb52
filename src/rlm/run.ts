// One question given to the orchestrator: a tree of nodes, one ledger, one story.
//
// The result never rejects because of what models or code did, unless `onLimit` is `throw`. Cancelling, or the end of the time
// that was given, ends every call and every session of the tree.

import { TokenBudgetExhausted, ToolBudgetExhausted, type RLMError } from "../errors.ts";
import type { CallHandler } from "../session/options.ts";
import type { RunId } from "../protocol/ids.ts";
import type { LedgerLimits, NodeId, RunEvent, RunResult } from "../protocol/runs.ts";
import type { Session } from "../session/session.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { onAbort } from "../util/async/on-abort.ts";
import type { FollowOptions, Positioned } from "../util/async/replay-log.ts";
import type { JSONSchema } from "./reply/answer-schema.ts";
import { Children } from "./ledger/concurrency.ts";
import type { ContextItem } from "./context/context.ts";
import { answerDirectly, isSmall } from "./calls/direct.ts";
import { EventLog } from "./events/event-log.ts";
import { Ledger, type Account } from "./ledger/ledger.ts";
import { ModelCalls } from "./calls/model-calls.ts";
import { Node, type NodeOutcome, type NodeSettings } from "./node.ts";
import type { CallCache, Journal, Models } from "./ports.ts";
import { Teller } from "./events/event-emitter.ts";
import { FINISHING_SHARE, TimeLimit } from "./ledger/time-limit.ts";
import { ToolCalls } from "./calls/tool-calls.ts";

export interface RunSettings {
  readonly id: RunId;
  readonly query: string;
  readonly context: readonly ContextItem[];
  readonly schema: JSONSchema | undefined;
  /** Whether regular expressions of the schema are tried on the answer. */
  readonly patterns: boolean;
  readonly tools: ToolRegistry;
  readonly model: string;
  /** Answers `llm_query`. */
  readonly subModel: string;
  /** Of nodes below the root. */
  readonly childModel: string;
  /** Of all models. Undefined: the default of each. */
  readonly reasoningEffort?: string | undefined;
  /** `auto`: what is small goes straight to the model. */
  readonly mode: "auto" | "rlm" | "direct";
  /** Of nodes with a session, the root not counted. */
  readonly maxDepth: number;
  /** Of each node. */
  readonly maxIterations: number;
  readonly limits: LedgerLimits;
  readonly onLimit: "partial" | "throw";
  /** For one block of code, waiting for models not counted. */
  readonly cellTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface RunPorts {
  readonly models: Models;
  readonly journal: Journal;
  readonly cache: CallCache | undefined;
  readonly now: () => number;
  readonly openSession: (onCall: CallHandler) => Promise<Session>;
}

interface NodeRequest extends Omit<NodeSettings, "id" | "account"> {
  readonly parent: Account | undefined;
}

const ROOT: NodeId = "n0";
/** Nodes with a session at once, at each depth. */
const MAX_CHILDREN = 16;

export class Run implements AsyncIterable<RunEvent> {
  readonly id: RunId;
  readonly result: Promise<RunResult>;
  readonly teller: Teller;
  readonly calls: ModelCalls;
  readonly tools: ToolCalls;
  readonly children = new Children(MAX_CHILDREN);
  readonly openSession: RunPorts["openSession"];
  readonly #ledger: Ledger;
  readonly #events = new EventLog();
  /** Of everything but finishing. */
  readonly #work = new AbortController();
  readonly #finishing = new AbortController();
  readonly #now: () => number;
  readonly #beganAt: number;
  #startedAt: number;
  #endedAt: number | undefined;
  #settings: RunSettings;
  #nodes = 0;
  #failure: RLMError | undefined;

  constructor(settings: RunSettings, ports: RunPorts) {
    const { models, journal, cache, now, openSession } = ports;
    this.id = settings.id;
    this.#settings = settings;
    this.openSession = openSession;
    this.#now = now;
    this.#beganAt = now();
    this.#startedAt = this.#beganAt;
    this.teller = new Teller(settings.id, now, (event) => {
      if (event.type === "run-start") this.#startedAt = event.time;
      if (event.type === "run-end") this.#endedAt = event.time;
      journal(event);
      this.#events.push(event);
    });
    this.calls = new ModelCalls({ models, cache, teller: this.teller, reasoningEffort: settings.reasoningEffort });
    this.tools = new ToolCalls(this.teller, (limit) => {
      if (settings.onLimit === "throw" && limit.ownerId === ROOT) this.#work.abort(limit);
    });
    this.#ledger = new Ledger(settings.limits, {
      finishingShare: FINISHING_SHARE,
      now,
      onLimit: (nodeId, axis, level, used, limit) =>
        this.teller.tell({ type: "limit", nodeId, axis, level, used, limit }),
    });
    this.result = this.#solve();
    this.result.catch(() => {}); // whoever never looks at the result is not punished for it
  }

  /** Once it has ended, without the context: an ended run may be kept for long, and its material is large. */
  get settings(): RunSettings {
    return this.#settings;
  }

  /** In milliseconds since the epoch, as its first event says. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** As its last event says. Undefined: it goes on. */
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** About how many characters its events have. */
  get weight(): number {
    return this.#events.characters;
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.#events[Symbol.asyncIterator]();
  }

  /** Its events with the cursor after each, from which a later reader can resume. Throws a RangeError for an invalid cursor. */
  follow(options?: FollowOptions): AsyncGenerator<Positioned<RunEvent>, void, undefined> {
    return this.#events.follow(options);
  }

  cancel(): void {
    this.#work.abort(new Error("the run was cancelled"));
    this.#finishing.abort(new Error("the run was cancelled"));
  }

  /** Of calls that finish a run. */
  get finishingSignal(): AbortSignal {
    return this.#finishing.signal;
  }

  /** Ends the run with an error, which its result rejects with. */
  fail(error: RLMError): void {
    this.#failure ??= error;
    this.#work.abort(error);
    this.#finishing.abort(error);
  }

  createNode({ parent, ...request }: NodeRequest): Node {
    const { grant } = request;
    const id: NodeId = `n${this.#nodes}`;
    this.#nodes += 1;
    const account = parent === undefined ? this.#ledger.open(id, grant) : parent.open(id, grant);
    return new Node(this, { ...request, id, account });
  }

  async #solve(): Promise<RunResult> {
    const { query, model, subModel, limits, maxDepth, signal } = this.settings;
    const stopListening = onAbort(signal, () => this.cancel());
    if (signal?.aborted === true) this.cancel();
    const time = limits.wallMs === undefined ? undefined : new TimeLimit(ROOT, limits.wallMs);
    onAbort(time?.work, () => this.#work.abort(time?.work.reason));
    onAbort(time?.finishing, () => this.#finishing.abort(time?.finishing.reason));
    try {
      await Promise.resolve(); // whoever wants to hear the first events has had the chance to listen
      this.teller.tell({ type: "run-start", query, model, subModel, limits, maxDepth });
      const result = this.#toResult(await this.#outcome());
      this.teller.tell({ type: "run-end", result });
      if (this.#failure !== undefined) throw this.#failure;
      this.#throwAtLimit(result);
      return result;
    } finally {
      time?.stop();
      stopListening();
      this.#work.abort(new Error("the run is over"));
      this.#finishing.abort(new Error("the run is over"));
      this.#events.end();
      this.#settings = { ...this.#settings, context: [] };
    }
  }

  #outcome(): Promise<NodeOutcome> {
    const { query, context, schema, tools, model, mode } = this.settings;
    if (mode === "direct" || (mode === "auto" && tools.names.length === 0 && isSmall(context))) {
      const account = this.#ledger.open(ROOT, undefined);
      this.#nodes = 1;
      return answerDirectly({ run: this, account, signal: this.#work.signal });
    }
    return this.createNode({
      parentId: null,
      depth: 0,
      query,
      context,
      schema,
      tools,
      model,
      parent: undefined,
      grant: undefined,
      signal: this.#work.signal,
    }).solve();
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
    const usage = { ...this.#ledger.usage(), wallMs: this.#now() - this.#beganAt };
    return { runId: this.id, status, stopReason, answer, ...(data !== undefined && { data }), why, usage };
  }
}

function toFailed({ message }: RLMError): NodeOutcome {
  return { status: "failed", stopReason: "error", answer: null, why: message };
}
