// Messages from a worker, parsed. User code shares the worker's process, so every field is hostile until it is read here.

import type { DisplayPart } from "./events.ts";
import type { ExecutionError, ExecutionStatus, MimeBundle } from "./execution.ts";

export const PROTOCOL_VERSION = 1;
export const MAX_LINE_BYTES = 64 * 1024;
const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;
/** Raw bytes behind one `chunk` event. */
const MAX_CHUNK_BYTES = 1024 * 1024;
export const MAX_DEPTH = 64;
/** Values in one message. */
export const MAX_PARTS = 500_000;
export const MAX_IGNORED = 10_000;
const MAX_DISPLAY_ID = 128;
/** The name of the call by which code asks for input. */
export const INPUT_CALL = "rlm:input";

export interface ReadyEvent {
  readonly type: "ready";
  readonly protocol: number;
  readonly python: string;
}

export interface StatusEvent {
  readonly type: "status";
  readonly id: string;
  readonly status: ExecutionStatus;
  readonly value: MimeBundle | undefined;
  readonly valueTotal: number | undefined;
  readonly error: ExecutionError | undefined;
  readonly incomplete: boolean;
  readonly exitCode: number | undefined;
  readonly pending: boolean;
  readonly survivors: boolean;
  /** The answer to a command that asks for one; its fields are still hostile. */
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly cpuMs: number;
  readonly peakBytes: number;
}

export interface DisplayEvent {
  readonly type: "display";
  readonly id: string;
  /** Under which the worker waits to hear that it was taken. */
  readonly call: number;
  readonly display: DisplayPart;
}

export interface CallEvent {
  readonly type: "call";
  readonly id: string;
  readonly call: number;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export type WorkerEvent = ReadyEvent | StatusEvent | DisplayEvent | CallEvent;

/** The typed event; `null` for a message that means nothing to us and is ignored. */
export function parseWorkerEvent(message: unknown): WorkerEvent | null {
  if (!isRecord(message)) return null;
  const { type } = message;
  switch (type) {
    case "status":
      return parseStatus(message);
    case "call":
      return parseCall(message);
    case "display":
      return parseDisplay(message);
    case "ready":
      return parseReady(message);
    default:
      return null;
  }
}

/** Says that raw bytes follow: part of the answer to a command. Handled as it is framed, and not an event for others. */
export interface ChunkHeader {
  readonly id: string;
  /** Where in the whole answer the bytes belong. 0 once more: the answer begins again. */
  readonly at: number;
  readonly bytes: number;
}

/** `null`: it is another kind of message. `undefined`: a violation. */
export function parseChunkHeader(message: unknown): ChunkHeader | null | undefined {
  if (!isRecord(message) || message["type"] !== "chunk") return null;
  const { id, at, bytes } = message;
  if (typeof id !== "string" || !isCount(at) || !isCount(bytes)) return undefined;
  return bytes > 0 && bytes <= MAX_CHUNK_BYTES ? { id, at, bytes } : undefined;
}

/** The length of the payload that follows a line: 0 for none, `undefined` for a violation. */
export function parsePayloadLength(message: unknown): number | undefined {
  if (!isRecord(message)) return undefined;
  const { bytes } = message;
  if (bytes === undefined) return 0;
  return isCount(bytes) && bytes <= MAX_PAYLOAD_BYTES ? bytes : undefined;
}

const STATUSES: ReadonlySet<unknown> = new Set(["ok", "error", "interrupted", "exit"]);

function parseStatus(message: Record<string, unknown>): StatusEvent | null {
  const { id, status, value, valueTotal, error, exitCode, cpuMs = 0, peakBytes = 0 } = message;
  if (typeof id !== "string" || !STATUSES.has(status)) return null;
  if (value !== undefined && !isMimeBundle(value)) return null;
  if (error !== undefined && !isError(error)) return null;
  if (exitCode !== undefined && !(isCount(exitCode) && exitCode <= 255)) return null;
  if (!isDuration(cpuMs) || !isCount(peakBytes)) return null;
  return {
    type: "status",
    id,
    status: status as ExecutionStatus,
    value,
    valueTotal: isCount(valueTotal) ? valueTotal : undefined,
    error: error && { name: error.name, value: error.value, traceback: error.traceback },
    incomplete: message["incomplete"] === true,
    exitCode,
    pending: message["pending"] === true,
    survivors: message["survivors"] === true,
    data: isRecord(message["data"]) ? message["data"] : undefined,
    cpuMs,
    peakBytes,
  };
}

function parseCall(message: Record<string, unknown>): CallEvent | null {
  const { id, call, name, args } = message;
  if (typeof id !== "string" || !isCount(call) || typeof name !== "string" || name.length > 256) return null;
  if (!isRecord(args)) return null;
  return { type: "call", id, call, name, args };
}

function parseDisplay(message: Record<string, unknown>): DisplayEvent | null {
  const { id, call, data, displayId } = message;
  if (typeof id !== "string" || !isCount(call) || !isMimeBundle(data)) return null;
  if (displayId !== undefined && !(typeof displayId === "string" && displayId.length <= MAX_DISPLAY_ID)) return null;
  const display: DisplayPart = {
    data,
    ...(displayId !== undefined && { displayId }),
    ...(message["update"] === true && { update: true }),
    ...(message["clear"] === true && { clear: true }),
  };
  return { type: "display", id, call, display };
}

function parseReady(message: Record<string, unknown>): ReadyEvent | null {
  const { protocol, python } = message;
  if (!isCount(protocol) || typeof python !== "string") return null;
  return { type: "ready", protocol, python };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isDuration(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isMimeBundle(value: unknown): value is MimeBundle {
  return isRecord(value) && Object.values(value).every((entry) => typeof entry === "string");
}

function isError(value: unknown): value is ExecutionError {
  if (!isRecord(value)) return false;
  return (
    typeof value["name"] === "string" && typeof value["value"] === "string" && typeof value["traceback"] === "string"
  );
}
