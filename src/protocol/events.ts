// The events of a session. Terminals, sockets and recordings all read this one union.

import { z } from "zod";
import { executionResult, mimeBundle, outputStream } from "./execution.ts";
import { executionId, sessionId } from "./id-schemas.ts";
import type { Shape } from "./shape.ts";

const base = {
  sessionId,
  seq: z.int().describe("Counts up by one within a session"),
  time: z.number().describe("Milliseconds since the epoch"),
};
const executionBase = { ...base, executionId };

export const executionStart = z.object({
  ...executionBase,
  type: z.literal("execution-start"),
  code: z.string(),
  executionCount: z.int(),
});
export type ExecutionStart = Shape<typeof executionStart>;

export const outputDelta = z.object({
  ...executionBase,
  type: z.literal("output-delta"),
  stream: outputStream,
  text: z.string(),
});
export type OutputDelta = Shape<typeof outputDelta>;

export const outputGap = z
  .object({ ...executionBase, type: z.literal("output-gap"), stream: outputStream, omittedBytes: z.int() })
  .describe("Output that was dropped because it exceeded the limit of what stays readable");
export type OutputGap = Shape<typeof outputGap>;

export const displayPart = z
  .object({
    data: mimeBundle.describe("Empty for a placeholder, or when there is only `clear`"),
    displayId: z.string().exactOptional().describe("A later display with this id can replace it"),
    update: z.literal(true).exactOptional().describe("Replaces the display with the same id"),
    clear: z.literal(true).exactOptional().describe("Removes what was displayed before"),
  })
  .describe("One rich output");
export type DisplayPart = Shape<typeof displayPart>;

export const display = z.object({ ...executionBase, ...displayPart.shape, type: z.literal("display") });
export type Display = Shape<typeof display>;

export const callStart = z.object({
  ...executionBase,
  type: z.literal("call-start"),
  call: z.int(),
  name: z.string(),
});
export type CallStart = Shape<typeof callStart>;

export const callEnd = z.object({ ...executionBase, type: z.literal("call-end"), call: z.int(), ok: z.boolean() });
export type CallEnd = Shape<typeof callEnd>;

export const inputStart = z
  .object({
    ...executionBase,
    type: z.literal("input-start"),
    call: z.int(),
    prompt: z.string().describe("Was also printed, if it came from `input()`"),
    password: z.boolean(),
  })
  .describe("Code waits for a line: `input()`, `getpass.getpass()`, or a read of `sys.stdin`");
export type InputStart = Shape<typeof inputStart>;

export const inputEnd = z
  .object({
    ...executionBase,
    type: z.literal("input-end"),
    call: z.int(),
    answered: z.boolean().describe("False at the end of input"),
  })
  .describe("The wait for a line is over. The line itself goes to the code alone");
export type InputEnd = Shape<typeof inputEnd>;

export const executionEnd = z.object({ ...executionBase, type: z.literal("execution-end"), result: executionResult });
export type ExecutionEnd = Shape<typeof executionEnd>;

export const backgroundDelta = z
  .object({ ...base, type: z.literal("background-delta"), stream: outputStream, text: z.string() })
  .describe("Printed by threads or children after the execution that started them had ended");
export type BackgroundDelta = Shape<typeof backgroundDelta>;

export const resetReason = z.enum(["reset", "worker-lost", "restored", "rewound"]);
export type ResetReason = Shape<typeof resetReason>;

export const sessionReset = z
  .object({ ...base, type: z.literal("session-reset"), epoch: z.int(), why: resetReason })
  .describe("The namespace was replaced: it is empty after a reset or a lost worker, or as it was at a checkpoint");
export type SessionReset = Shape<typeof sessionReset>;

export const sessionEnd = z.object({ ...base, type: z.literal("session-end"), why: z.string() });
export type SessionEnd = Shape<typeof sessionEnd>;

export const executionEvent = z.discriminatedUnion("type", [
  executionStart,
  outputDelta,
  outputGap,
  display,
  callStart,
  callEnd,
  inputStart,
  inputEnd,
  executionEnd,
]);
export type ExecutionEvent = Shape<typeof executionEvent>;

export const sessionEvent = z.discriminatedUnion("type", [
  ...executionEvent.options,
  backgroundDelta,
  sessionReset,
  sessionEnd,
]);
export type SessionEvent = Shape<typeof sessionEvent>;
