// The events of a session. Terminals, sockets and recordings all read this one union.

import { z } from "zod";
import { executionResult, mimeBundle, outputStream } from "./execution.ts";
import { executionId, sessionId } from "./id-schemas.ts";
import { checkpoint, stateOrigin } from "./sessions.ts";
import type { Shape } from "./shape.ts";

const base = {
  sessionId,
  seq: z.int().describe("Increases with each event of the session; numbers may be skipped"),
  time: z.number().describe("Milliseconds since the epoch"),
};
const executionBase = { ...base, executionId };
const omittedBytes = z.int().describe("How much was dropped");
const printedText = z.string().describe("What was printed");
const call = z.int().describe("The number of the call in the execution");

const code = z.string().describe("The code that runs");
const executionCount = z.int().describe("The number of the execution in the session");

export const executionQueue = z
  .object({ ...executionBase, type: z.literal("execution-queue"), code, executionCount })
  .describe("Code was requested while other code runs, and waits for its turn");
export type ExecutionQueue = Shape<typeof executionQueue>;

export const executionStart = z
  .object({ ...executionBase, type: z.literal("execution-start"), code, executionCount })
  .describe("Code begins to run");
export type ExecutionStart = Shape<typeof executionStart>;

export const outputDelta = z
  .object({ ...executionBase, type: z.literal("output-delta"), stream: outputStream, text: printedText })
  .describe("The code printed something");
export type OutputDelta = Shape<typeof outputDelta>;

export const outputGap = z
  .object({ ...executionBase, type: z.literal("output-gap"), stream: outputStream, omittedBytes })
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

export const display = z
  .object({ ...executionBase, ...displayPart.shape, type: z.literal("display") })
  .describe("The code displayed something rich: a figure, a table, HTML");
export type Display = Shape<typeof display>;

export const callStart = z
  .object({
    ...executionBase,
    type: z.literal("call-start"),
    call,
    name: z.string().describe("What the code calls"),
  })
  .describe("The code calls the host, and waits");
export type CallStart = Shape<typeof callStart>;

export const callEnd = z
  .object({
    ...executionBase,
    type: z.literal("call-end"),
    call,
    ok: z.boolean().describe("False: the host answered with an error"),
  })
  .describe("The host answered a call of the code");
export type CallEnd = Shape<typeof callEnd>;

export const inputStart = z
  .object({
    ...executionBase,
    type: z.literal("input-start"),
    call,
    prompt: z.string().describe("Was also printed, if it came from `input()`"),
    password: z.boolean().describe("The input must not be echoed"),
  })
  .describe("Code waits for a line: `input()`, `getpass.getpass()`, or a read of `sys.stdin`");
export type InputStart = Shape<typeof inputStart>;

export const inputEnd = z
  .object({
    ...executionBase,
    type: z.literal("input-end"),
    call,
    answered: z.boolean().describe("False at the end of input"),
  })
  .describe("The wait for a line is over. The line itself goes to the code alone");
export type InputEnd = Shape<typeof inputEnd>;

export const executionEnd = z
  .object({ ...executionBase, type: z.literal("execution-end"), result: executionResult })
  .describe("The execution is over: the last of its events");
export type ExecutionEnd = Shape<typeof executionEnd>;

export const backgroundDelta = z
  .object({ ...base, type: z.literal("background-delta"), stream: outputStream, text: printedText })
  .describe("Printed by threads or children after the execution that started them had ended");
export type BackgroundDelta = Shape<typeof backgroundDelta>;

export const resetReason = z
  .enum(["reset", "worker-lost", "restored", "rewound"])
  .describe("Why a namespace was replaced");
export type ResetReason = Shape<typeof resetReason>;

export const sessionReset = z
  .object({
    ...base,
    type: z.literal("session-reset"),
    epoch: z.int().describe("The new epoch of the session"),
    why: resetReason,
    ...stateOrigin.shape,
  })
  .describe("The namespace was replaced: it is empty after a reset or a lost worker, or as it was at a checkpoint");
export type SessionReset = Shape<typeof sessionReset>;

export const sessionFork = z
  .object({ ...base, type: z.literal("session-fork"), forkId: sessionId.describe("The id of the copy") })
  .describe("A fork of the session was opened");
export type SessionFork = Shape<typeof sessionFork>;

export const checkpointAdd = z
  .object({ ...base, type: z.literal("checkpoint-add"), checkpoint })
  .describe("A checkpoint was taken; the state continues from it");
export type CheckpointAdd = Shape<typeof checkpointAdd>;

export const checkpointDrop = z
  .object({ ...base, type: z.literal("checkpoint-drop"), checkpointId: z.string().describe("Its id") })
  .describe("A checkpoint is no longer kept. What continued from it now continues from its parent");
export type CheckpointDrop = Shape<typeof checkpointDrop>;

export const sessionEnd = z
  .object({ ...base, type: z.literal("session-end"), why: z.string().describe("What ended it") })
  .describe("The session is over: the last of its events");
export type SessionEnd = Shape<typeof sessionEnd>;

export const executionEvent = z
  .discriminatedUnion("type", [
    executionStart,
    outputDelta,
    outputGap,
    display,
    callStart,
    callEnd,
    inputStart,
    inputEnd,
    executionEnd,
  ])
  .describe("What happens in an execution; `type` says what");
export type ExecutionEvent = Shape<typeof executionEvent>;

export const sessionEvent = z
  .discriminatedUnion("type", [
    ...executionEvent.options,
    executionQueue,
    backgroundDelta,
    checkpointAdd,
    checkpointDrop,
    sessionFork,
    sessionReset,
    sessionEnd,
  ])
  .describe("What happens in a session; `type` says what");
export type SessionEvent = Shape<typeof sessionEvent>;
