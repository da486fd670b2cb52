// What the nodes of a run share, and what a node is made of.

import type { Clock } from "../backends/dispatch/clock.ts";
import type { BackendConnectionError, RLMError } from "../errors.ts";
import type { RunId } from "../protocol/ids.ts";
import type { Batch } from "../protocol/run-events.ts";
import type { LedgerLimits, NodeId, RunStatus, StopReason } from "../protocol/runs.ts";
import type { Strategy } from "../protocol/strategy/strategy.ts";
import type { ModelSettings } from "../api/models.ts";
import type { WorkerCallHandler } from "../session/options.ts";
import type { Session } from "../session/session.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { ModelCalls } from "./calls/model-calls.ts";
import type { ToolCalls } from "./calls/tool-calls.ts";
import type { ContextItem } from "./context/context-item.ts";
import type { EventEmitter } from "./events/event-emitter.ts";
import type { Account } from "./ledger/account.ts";
import type { Concurrency } from "./ledger/concurrency.ts";
import type { ModelChoice } from "./models/model-choice.ts";
import type { JSONSchema } from "./reply/answer-schema.ts";

export interface RunSettings {
  readonly id: RunId;
  /** Of the request, where the caller chose the id. */
  readonly fingerprint?: string | undefined;
  readonly query: string;
  readonly context: readonly ContextItem[];
  readonly schema: JSONSchema | undefined;
  /** Whether regular expressions of the schema are tried on the answer. */
  readonly patterns: boolean;
  readonly tools: ToolRegistry;
  readonly model: string;
  /** Answers `llm_query`. */
  readonly subModel: string;
  /** The model of nodes below the root. */
  readonly childModel: string;
  /** Gives the best answer at a limit. Undefined: the model of the node. */
  readonly extractModel: string | undefined;
  /** Of all models in this run, instead of their own. */
  readonly modelSettings?: ModelSettings | undefined;
  /** `auto`: small questions go straight to the model. */
  readonly mode: "auto" | "rlm" | "direct";
  /** Of nodes with a session; the root has depth 0. */
  readonly maxDepth: number;
  /** Steps of each node. */
  readonly maxIterations: number;
  readonly limits: LedgerLimits;
  readonly onLimit: "partial" | "throw";
  /** For one block of code, without the time that it waits for models. */
  readonly cellTimeoutMs: number;
  /** How a model is asked, and what it is shown. */
  readonly strategyOf: (model: string) => Strategy;
  readonly signal: AbortSignal | undefined;
}

export interface NodeSettings {
  readonly id: NodeId;
  readonly parentId: NodeId | null;
  readonly depth: number;
  readonly query: string;
  readonly context: readonly ContextItem[];
  readonly schema: JSONSchema | undefined;
  readonly tools: ToolRegistry;
  readonly model: string;
  readonly account: Account;
  /** Limits of this node and its descendants. Undefined: only those of the run. */
  readonly grant?: LedgerLimits | undefined;
  /** Its position among the nodes that code asked for at once. Undefined: it is a single one. */
  readonly batch?: Batch | undefined;
  readonly signal: AbortSignal;
}

export interface NodeOutcome {
  readonly status: RunStatus;
  readonly stopReason: StopReason;
  readonly answer: string | null;
  readonly data?: unknown;
  readonly why: string | null;
  /** Why there is no answer, where a model could not be asked. */
  readonly backendError?: BackendConnectionError;
}

export interface NodeRequest extends Omit<NodeSettings, "id" | "account"> {
  /** Absent: it is the root. */
  readonly parent?: Account;
}

/** A run as its nodes see it. */
export interface RunContext {
  readonly settings: RunSettings;
  readonly events: EventEmitter;
  readonly modelCalls: ModelCalls;
  /** Which models code may ask. */
  readonly modelChoice: ModelChoice;
  readonly toolCalls: ToolCalls;
  readonly concurrency: Concurrency;
  readonly clock: Clock;
  /** For calls that finish a run. */
  readonly finishingSignal: AbortSignal;
  readonly openSession: (onCall: WorkerCallHandler) => Promise<Session>;
  createNode(request: NodeRequest): { solve(): Promise<NodeOutcome> };
  /** Ends the run; its result rejects with this error. */
  fail(error: RLMError): void;
}

/** Emits the start and the end of a node. */
export async function reportNode(
  run: RunContext,
  node: Pick<NodeSettings, "id" | "parentId" | "depth" | "query" | "model" | "context" | "account" | "batch">,
  solve: () => Promise<NodeOutcome>,
): Promise<NodeOutcome> {
  const { id: nodeId, parentId, depth, query, model, account, batch } = node;
  const context = node.context.map(({ name, kind, bytes, value }) => ({
    name,
    kind,
    bytes,
    ...(Array.isArray(value) && { files: value.length }),
  }));
  const facts = { parentId, depth, query, model, context, isDegraded: false, ...(batch !== undefined && { batch }) };
  run.events.emit({ type: "node-start", nodeId, ...facts });
  const outcome = await solve();
  const { status, stopReason, answer } = outcome;
  run.events.emit({ type: "node-end", nodeId, status, stopReason, answer, usage: account.used() });
  return outcome;
}
