// Messages from a worker.
//
// These schemas define them. The host parses them by hand, in parse-worker-event.ts, because every execution waits for one and
// zod takes many times as long (bench/parsers.mjs). A test holds that both agree.

import { z } from "zod";
import { displayPart } from "../events.ts";
import { executionError, executionStatus, mimeBundle } from "../execution.ts";
import { MAX_CALL_NAME, MAX_CHUNK_BYTES, MAX_DISPLAY_ID } from "./limits.ts";
import type { Shape } from "../shape.ts";

const count = z.int().min(0);
const flag = z.boolean().catch(false);
const fields = z.record(z.string(), z.unknown());

export const readyEvent = z.object({ type: z.literal("ready"), protocol: count, python: z.string() });
export type ReadyEvent = Shape<typeof readyEvent>;

export const statusEvent = z.object({
  type: z.literal("status"),
  id: z.string(),
  status: executionStatus,
  value: mimeBundle.optional(),
  valueTotal: count.optional().catch(undefined),
  error: executionError.optional(),
  incomplete: flag,
  exitCode: count.max(255).optional(),
  pending: flag,
  survivors: flag,
  data: fields.optional().catch(undefined).describe("The answer to a command that has one; not checked yet"),
  cpuMs: z.number().min(0).default(0),
  peakBytes: count.default(0),
});
export type StatusEvent = Shape<typeof statusEvent>;

export const displayEvent = z.object({
  ...displayPart.shape,
  displayId: z.string().max(MAX_DISPLAY_ID).exactOptional(),
  type: z.literal("display"),
  id: z.string(),
  call: count.describe("The worker waits for the reply to this call"),
});
export type DisplayEvent = Shape<typeof displayEvent>;

export const callEvent = z.object({
  type: z.literal("call"),
  id: z.string(),
  call: count,
  name: z.string().max(MAX_CALL_NAME),
  args: fields,
});
export type CallEvent = Shape<typeof callEvent>;

export const orderEvent = z
  .object({
    type: z.literal("order"),
    next: z.enum(["stdout", "stderr"]).describe("The stream that the worker writes to from here on"),
    stdout: count,
    stderr: count,
    all: z.literal(true).exactOptional().describe("And so does everything that the pipes contain now"),
    call: count.exactOptional().describe("The host answers with this number: it has read the mark"),
  })
  .describe("So many bytes of each stream, since the end of the last execution, come before what follows");
export type OrderEvent = Shape<typeof orderEvent>;

export const workerEvent = z.discriminatedUnion("type", [readyEvent, statusEvent, displayEvent, callEvent, orderEvent]);
export type WorkerEvent = Shape<typeof workerEvent>;

export const payloadHeader = z
  .object({ type: z.string(), id: z.string(), call: count.optional() })
  .describe("The line before an event that is sent as a payload. The event repeats these fields");
export type PayloadHeader = Shape<typeof payloadHeader>;

export const chunkHeader = z
  .object({
    id: z.string(),
    at: count.describe("Offset of the bytes in the whole answer. 0 again: the answer starts over"),
    bytes: count.min(1).max(MAX_CHUNK_BYTES),
  })
  .describe("Raw bytes follow: part of the answer to a command. The frame reader handles it; it is not an event");
export type ChunkHeader = Shape<typeof chunkHeader>;
