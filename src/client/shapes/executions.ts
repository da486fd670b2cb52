// Executions: results, events, history.

import type { ExecutionView } from "../../protocol/api/executions.ts";
import type { ExecutionEvent } from "../../protocol/events.ts";
import type {
  Cut,
  ExecutionError,
  ExecutionResult,
  HistoryEntry,
  MimeBundle,
  OutputStream,
  Usage,
} from "../../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../../protocol/ids.ts";
import { problem } from "../net/problem.ts";
import {
  array,
  boolean,
  idOf,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  variants,
  type Check,
} from "./check.ts";

const sessionId = idOf<SessionId>();
const executionId = idOf<ExecutionId>();
const mimeBundle: Check<MimeBundle> = record(string);
export const outputStream: Check<OutputStream> = oneOf("stdout", "stderr");
export const cut: Check<Cut> = object<Cut>({ total: number, omitted: number });
export const usage: Check<Usage> = object<Usage>({ cpuMs: number, peakMemoryBytes: number });
export const executionError: Check<ExecutionError> = object<ExecutionError>({
  name: string,
  value: string,
  traceback: string,
});
const truth = oneOf(true);

/** What results of every status have; runs record them without displays. */
const common = {
  stdout: string,
  stderr: string,
  state: oneOf("kept", "restored", "lost"),
  truncated: nullable(
    object({ stdout: optional(cut), stderr: optional(cut), value: optional(cut), displays: optional(cut) }),
  ),
  sessionId,
  executionId,
  executionCount: number,
  epoch: number,
  durationMs: number,
  usage,
};
const byStatus = (more: object): Readonly<Record<string, Check<unknown>>> => ({
  ok: object({ ...common, ...more, value: optional(mimeBundle) }),
  error: object({ ...common, ...more, error: executionError, incomplete: optional(truth) }),
  interrupted: object({
    ...common,
    ...more,
    error: optional(executionError),
    reason: oneOf("timeout", "cancelled", "memory", "worker-lost"),
  }),
  exit: object({ ...common, ...more, exitCode: number }),
});
export const executionResult = variants<ExecutionResult>("status", byStatus({ displays: array(mimeBundle) }));
export const recordedResult = variants<unknown>("status", byStatus({}));

export const execution: Check<ExecutionView> = object<ExecutionView>({
  id: executionId,
  sessionId,
  state: oneOf("waiting", "running", "ended"),
  startedAt: nullable(string),
  outputBytes: number,
  result: nullable(executionResult),
  problem: optional(problem),
});

export const historyEntry: Check<HistoryEntry> = object<HistoryEntry>({
  executionId,
  executionCount: number,
  parent: number,
  code: string,
  startedAt: string,
  status: nullable(oneOf("ok", "error", "interrupted", "exit")),
  durationMs: nullable(number),
});

/** What every event has. */
export const base = { sessionId, seq: number, time: number };
const part = { ...base, executionId };
export const delta = { ...base, stream: outputStream, text: string };
/** How an execution is announced. */
export const announced = object({ ...part, code: string, executionCount: number });
export const executionEvents: Readonly<Record<string, Check<unknown>>> = {
  "execution-start": announced,
  "output-delta": object({ ...part, ...delta }),
  "output-gap": object({ ...part, stream: outputStream, omittedBytes: number }),
  display: object({
    ...part,
    data: mimeBundle,
    displayId: optional(string),
    update: optional(truth),
    clear: optional(truth),
  }),
  "call-start": object({ ...part, call: number, name: string }),
  "call-end": object({ ...part, call: number, ok: boolean }),
  "input-start": object({ ...part, call: number, prompt: string, password: boolean }),
  "input-end": object({ ...part, call: number, answered: boolean }),
  "execution-end": object({ ...part, result: executionResult }),
};
export const executionEvent = variants<ExecutionEvent>("type", executionEvents);
