// The result of an execution: the same shape in the SDK, over HTTP and WebSocket, and in recordings.

import { z } from "zod";
import { executionId, sessionId } from "./id-schemas.ts";
import type { Shape } from "./shape.ts";
import { variableList } from "./variables.ts";

export const mimeBundle = z.record(z.string(), z.string()).meta({
  id: "MimeBundle",
  description:
    "One value in several representations, keyed by MIME type. Binary types are base64, JSON types are JSON text",
});
export type MimeBundle = Shape<typeof mimeBundle>;

export const executionStatus = z
  .enum(["ok", "error", "interrupted", "exit"])
  .describe("How an execution ended: by itself, by an exception, from outside, or by `exit`");
export type ExecutionStatus = Shape<typeof executionStatus>;

export const interruptReason = z
  .enum(["timeout", "cancelled", "memory", "worker-lost"])
  .describe("What interrupted it: its time limit, the caller, the memory limit, or the end of the worker");
export type InterruptReason = Shape<typeof interruptReason>;

export const stateAfter = z
  .enum(["kept", "restored", "lost"])
  .describe("What happened to the namespace: unchanged, restored from a checkpoint, or lost");
export type StateAfter = Shape<typeof stateAfter>;

export const outputStream = z.enum(["stdout", "stderr"]).describe("Standard output or standard error");
export type OutputStream = Shape<typeof outputStream>;

export const executionError = z
  .object({
    name: z.string().describe("The class of the exception"),
    value: z.string().describe("Its message"),
    traceback: z.string().describe("Frames of user code only"),
  })
  .meta({ id: "ExecutionError", description: "The exception that ended an execution" });
export type ExecutionError = Shape<typeof executionError>;

export const cut = z
  .object({ total: z.int().describe("How much there was"), omitted: z.int().describe("How much of it is missing") })
  .meta({ id: "Cut", description: "How much was left out, in bytes (in characters for `value`)" });
export type Cut = Shape<typeof cut>;

export const usage = z
  .object({
    cpuMs: z.number().describe("Processor time, including children that have ended"),
    peakMemoryBytes: z.int().describe("Peak resident memory. Of an execution: of the worker since it started"),
  })
  .meta({ id: "Usage", description: "Processor time and peak memory" });
export type Usage = Shape<typeof usage>;

/** What every result has, whatever its status. */
export const commonFields = {
  stdout: z.string().describe("What was printed, cut in the middle where `truncated` says so"),
  stderr: z.string().describe("What was printed on standard error, cut in the same way"),
  state: stateAfter,
  truncated: z
    .object({
      stdout: cut.exactOptional().describe("Absent: `stdout` is complete"),
      stderr: cut.exactOptional().describe("Absent: `stderr` is complete"),
      value: cut.exactOptional().describe("Absent: `value` is complete"),
      displays: cut.exactOptional().describe("Absent: `displays` are complete"),
    })
    .nullable()
    .describe("Null: nothing was truncated"),
  sessionId: sessionId.describe("The session that ran it"),
  executionId: executionId.describe("The id of the execution"),
  executionCount: z.int().describe("Its number in the session"),
  epoch: z.int().describe("Changes whenever the session's state is lost or restored"),
  durationMs: z.number().describe("Running time, without the time in the queue"),
  usage,
};
const displays = z.array(mimeBundle).describe("Rich outputs in order: figures, tables, HTML");

/** A field that results with another status have. */
const absent = z.never().exactOptional().describe("Only results with another status have it");

/** What results have by their status. */
const okFields = {
  status: z.literal("ok"),
  value: mimeBundle.exactOptional().describe("The last bare expression. Absent: there is none, or it is None"),
  error: absent,
  incomplete: absent,
  reason: absent,
  exitCode: absent,
};
const errorFields = {
  status: z.literal("error"),
  value: absent,
  error: executionError,
  incomplete: z.literal(true).exactOptional().describe("The code ends in the middle of a statement; nothing was run"),
  reason: absent,
  exitCode: absent,
};
const interruptedFields = {
  status: z.literal("interrupted"),
  value: absent,
  error: executionError.exactOptional().describe("Absent: it never started"),
  incomplete: absent,
  reason: interruptReason,
  exitCode: absent,
};
const exitFields = {
  status: z.literal("exit"),
  value: absent,
  error: absent,
  incomplete: absent,
  reason: absent,
  exitCode: z.int().describe("The argument of `exit`"),
};

/** A result by its status, with further fields that every status has. */
function resultWith<Extra extends z.core.$ZodLooseShape>(extra: Extra) {
  return z.discriminatedUnion("status", [
    z.object({ ...okFields, ...commonFields, ...extra }),
    z.object({ ...errorFields, ...commonFields, ...extra }),
    z.object({ ...interruptedFields, ...commonFields, ...extra }),
    z.object({ ...exitFields, ...commonFields, ...extra }),
  ]);
}

export const executionResult = resultWith({ displays }).meta({
  id: "ExecutionResult",
  description: "The result of an execution; `status` says which kind",
});
export type ExecutionResult = Shape<typeof executionResult>;

/** As runs record it: without displays. */
export const recordedResult = resultWith({});

export const executeAnswer = resultWith({
  displays,
  variables: variableList
    .nullable()
    .exactOptional()
    .describe("If requested. Null: the session has closed since, or does not answer"),
}).meta({ id: "ExecuteAnswer" });

export const historyEntry = z
  .object({
    executionId,
    executionCount: z.int().describe("Its number in the session"),
    parent: z
      .int()
      .describe("The number of the execution whose state it began with: not the one before it after a rewind. 0: none"),
    code: z.string().describe("The first 10,000 characters of the code"),
    startedAt: z.iso.datetime().describe("When it began"),
    status: executionStatus.nullable().describe("Null while it runs"),
    durationMs: z.number().nullable().describe("Running time. Null while it runs"),
  })
  .describe("One execution in the history of a session");
export type HistoryEntry = Shape<typeof historyEntry>;
