// The result of an execution: the same shape in the SDK, over HTTP and WebSocket, and in recordings.

import { z } from "zod";
import { executionId, sessionId } from "./id-schemas.ts";
import type { Shape } from "./shape.ts";

export const mimeBundle = z.record(z.string(), z.string()).meta({
  id: "MimeBundle",
  description:
    "One value in several representations, keyed by MIME type. Binary types are base64, JSON types are JSON text",
});
export type MimeBundle = Shape<typeof mimeBundle>;

export const executionStatus = z.enum(["ok", "error", "interrupted", "exit"]);
export type ExecutionStatus = Shape<typeof executionStatus>;

export const interruptReason = z.enum(["timeout", "cancelled", "memory", "worker-lost"]);
export type InterruptReason = Shape<typeof interruptReason>;

export const stateAfter = z
  .enum(["kept", "restored", "lost"])
  .describe("What happened to the namespace: unchanged, restored from a checkpoint, or lost");
export type StateAfter = Shape<typeof stateAfter>;

export const outputStream = z.enum(["stdout", "stderr"]);
export type OutputStream = Shape<typeof outputStream>;

export const executionError = z
  .object({ name: z.string(), value: z.string(), traceback: z.string().describe("Frames of user code only") })
  .meta({ id: "ExecutionError", description: "The exception that ended an execution" });
export type ExecutionError = Shape<typeof executionError>;

export const cut = z
  .object({ total: z.int(), omitted: z.int() })
  .meta({ id: "Cut", description: "How much was left out, in bytes (in characters for `value`)" });
export type Cut = Shape<typeof cut>;

export const usage = z
  .object({
    cpuMs: z.number().describe("Processor time, including children that have ended"),
    peakMemoryBytes: z.int().describe("Peak resident memory. Of an execution: of the worker since it started"),
  })
  .meta({ id: "Usage", description: "Processor time and peak memory" });
export type Usage = Shape<typeof usage>;

export const executionResult = z
  .object({
    status: executionStatus,
    stdout: z.string(),
    stderr: z.string(),
    value: mimeBundle.exactOptional().describe("The last bare expression. Absent: there is none, or it is None"),
    displays: z.array(mimeBundle),
    error: executionError.exactOptional(),
    incomplete: z.literal(true).exactOptional().describe("The code ends in the middle of a statement; nothing was run"),
    reason: interruptReason.exactOptional().describe("Only for `interrupted`"),
    state: stateAfter,
    exitCode: z.int().exactOptional().describe("Only for `exit`"),
    truncated: z
      .object({
        stdout: cut.exactOptional(),
        stderr: cut.exactOptional(),
        value: cut.exactOptional(),
        displays: cut.exactOptional(),
      })
      .nullable()
      .describe("Null: nothing was truncated"),
    sessionId,
    executionId,
    executionCount: z.int(),
    epoch: z.int().describe("Changes whenever the session's state is lost or restored"),
    durationMs: z.number(),
    usage,
  })
  .meta({ id: "ExecutionResult" });
export type ExecutionResult = Shape<typeof executionResult>;

export const historyEntry = z.object({
  executionId,
  executionCount: z.int(),
  code: z.string().describe("The first characters of the code"),
  startedAt: z.iso.datetime(),
  status: executionStatus.nullable().describe("Null while it runs"),
  durationMs: z.number().nullable(),
});
export type HistoryEntry = Shape<typeof historyEntry>;
