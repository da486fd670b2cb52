// What happens in a run, as plain data: what one watches live is what is recorded.

import type { ExecutionResult } from "./execution.ts";
import type { RunId } from "./ids.ts";

/** `n0` is the root; children are `n1`, `n2`, ... in the order in which they were made. */
export type NodeId = string;

export type RunStatus = "final" | "partial" | "failed" | "cancelled";

/** `answered`: by FINAL and the like. The others name what ended the run: a limit (by its axis), an error, the caller. */
export type StopReason = "answered" | LedgerAxis | "error" | "cancelled";

export type LedgerAxis = "tokens" | "costUsd" | "llmCalls" | "toolCalls" | "wallMs" | "iterations";

/** Absent: no limit on this axis. */
export type LedgerLimits = { readonly [axis in LedgerAxis]?: number };

export interface Spent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Input and output. */
  readonly tokens: number;
  /** How many of them are a guess: of answers that were broken off, and where a server does not count. The cost of them is one, too. */
  readonly estimatedTokens: number;
  /** Null: a price is not known for something that was spent. */
  readonly costUsd: number | null;
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly iterations: number;
  /** Calls that were answered from the cache; they cost nothing. */
  readonly cachedCalls: number;
}

export interface RunUsage {
  readonly total: Spent;
  readonly byModel: Readonly<Record<string, Spent>>;
  readonly byNode: Readonly<Record<NodeId, Spent>>;
  readonly wallMs: number;
}

export interface RunResult {
  readonly runId: RunId;
  readonly status: RunStatus;
  readonly stopReason: StopReason;
  /** Null where there is none. */
  readonly answer: string | null;
  /** The answer as data: what was given to FINAL or SUBMIT, checked where there is a schema. Undefined: it has none. */
  readonly data?: unknown;
  /** Why it failed, or what else there is to say; null where there is nothing. */
  readonly why: string | null;
  readonly usage: RunUsage;
}

interface RunEventBase {
  readonly runId: RunId;
  /** Counts up by one within a run. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

interface NodeEventBase extends RunEventBase {
  readonly nodeId: NodeId;
}

/** A model is asked: by the loop of a node (`turn`), by code (`query`), or for the best answer at a limit (`extract`). */
export interface ModelCallStart extends NodeEventBase {
  readonly type: "model-call-start";
  readonly callId: string;
  readonly purpose: "turn" | "query" | "extract" | "direct";
  readonly turn: number;
  /** Which of the calls of this node and turn it is, in the order in which they were asked for. */
  readonly ordinal: number;
  readonly backend: string;
  readonly model: string;
  /** SHA-256 of the request as canonical JSON; the request itself is recorded under it. */
  readonly requestHash: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export interface ModelCallEnd extends NodeEventBase {
  readonly type: "model-call-end";
  readonly callId: string;
  readonly ok: boolean;
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: string;
  readonly isCached: boolean;
  /** It was broken off by us: the first block of code was complete. */
  readonly isCut: boolean;
  readonly usage: Spent;
  readonly error: string | null;
  readonly durationMs: number;
}

export type RunEvent =
  | (RunEventBase & {
      readonly type: "run-start";
      readonly query: string;
      readonly model: string;
      readonly subModel: string;
      readonly limits: LedgerLimits;
      readonly maxDepth: number;
    })
  | (NodeEventBase & {
      readonly type: "node-start";
      /** Null for the root. */
      readonly parentId: NodeId | null;
      readonly depth: number;
      readonly query: string;
      readonly model: string;
      readonly context: readonly { readonly name: string; readonly kind: string; readonly bytes: number }[];
      /** Too deep for a session of its own: it is one call of a model. */
      readonly isDegraded: boolean;
    })
  | ModelCallStart
  | (NodeEventBase & {
      readonly type: "model-call-delta";
      readonly callId: string;
      readonly text: string;
      readonly kind: "text" | "reasoning";
    })
  | ModelCallEnd
  | (NodeEventBase & { readonly type: "step-start"; readonly turn: number })
  | (NodeEventBase & { readonly type: "code-start"; readonly turn: number; readonly code: string })
  | (NodeEventBase & {
      readonly type: "output-delta";
      readonly turn: number;
      readonly stream: "stdout" | "stderr";
      readonly text: string;
    })
  | (NodeEventBase & {
      readonly type: "code-end";
      readonly turn: number;
      readonly result: Omit<ExecutionResult, "displays">;
    })
  | (NodeEventBase & { readonly type: "step-end"; readonly turn: number; readonly told: string })
  | (NodeEventBase & {
      readonly type: "tool-call-start";
      readonly callId: string;
      readonly tool: string;
      readonly args: unknown;
    })
  | (NodeEventBase & {
      readonly type: "tool-call-end";
      readonly callId: string;
      readonly ok: boolean;
      readonly result: unknown;
      readonly durationMs: number;
    })
  | (NodeEventBase & {
      readonly type: "limit";
      readonly axis: LedgerAxis;
      readonly level: "warning" | "reached";
      readonly used: number;
      readonly limit: number;
    })
  | (NodeEventBase & {
      readonly type: "node-end";
      readonly status: RunStatus;
      readonly stopReason: StopReason;
      readonly answer: string | null;
      readonly usage: Spent;
    })
  | (RunEventBase & { readonly type: "run-end"; readonly result: RunResult })
  /** For a reader that is too slow, or comes too late: all after the number `after` up to `seq` is left out. Never recorded: the log has all. */
  | (RunEventBase & { readonly type: "event-gap"; readonly after: number });
