// Parses messages from a worker. User code shares the worker's process, so every field is hostile.
//
// Written by hand for speed; worker-events.ts has the schemas, and says why.

import type { ExecutionError, ExecutionStatus, MimeBundle } from "../execution.ts";
import { MAX_CALL_NAME, MAX_CHUNK_BYTES, MAX_DISPLAY_ID, MAX_PAYLOAD_BYTES } from "./limits.ts";
import type {
  CallEvent,
  ChunkHeader,
  DisplayEvent,
  OrderEvent,
  PayloadHeader,
  ReadyEvent,
  StatusEvent,
  WorkerEvent,
} from "./worker-events.ts";

/** Null for a message that is unknown or invalid; it is ignored. */
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
    case "order":
      return parseOrder(message);
    default:
      return null;
  }
}

/** Null: another kind of message. Undefined: a violation. */
export function parseChunkHeader(message: unknown): ChunkHeader | null | undefined {
  if (!isRecord(message) || message["type"] !== "chunk") return null;
  const { id, at, bytes } = message;
  if (typeof id !== "string" || !isCount(at) || !isCount(bytes)) return undefined;
  return bytes > 0 && bytes <= MAX_CHUNK_BYTES ? { id, at, bytes } : undefined;
}

/** What the line before a payload says about it. Undefined: no worker of ours sends it. */
export function parseHeader(message: unknown): PayloadHeader | undefined {
  if (!isRecord(message)) return undefined;
  const { type, id, call } = message;
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  return call === undefined || isCount(call) ? { type, id, call } : undefined;
}

/** The length of the payload that follows a line: 0 for none, undefined for a violation. */
export function parsePayloadLength(message: unknown): number | undefined {
  if (!isRecord(message)) return undefined;
  const { bytes } = message;
  if (bytes === undefined) return 0;
  return isCount(bytes) && bytes <= MAX_PAYLOAD_BYTES ? bytes : undefined;
}

const STATUSES: ReadonlySet<unknown> = new Set<ExecutionStatus>(["ok", "error", "interrupted", "exit"]);

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
  if (typeof id !== "string" || !isCount(call) || typeof name !== "string" || name.length > MAX_CALL_NAME) return null;
  return isRecord(args) ? { type: "call", id, call, name, args } : null;
}

function parseDisplay(message: Record<string, unknown>): DisplayEvent | null {
  const { id, call, data, displayId, update, clear } = message;
  if (typeof id !== "string" || !isCount(call) || !isMimeBundle(data)) return null;
  if (displayId !== undefined && !(typeof displayId === "string" && displayId.length <= MAX_DISPLAY_ID)) return null;
  if (!isMark(update) || !isMark(clear)) return null;
  return {
    type: "display",
    id,
    call,
    data,
    ...(displayId !== undefined && { displayId }),
    ...(update && { update }),
    ...(clear && { clear }),
  };
}

function parseReady(message: Record<string, unknown>): ReadyEvent | null {
  const { protocol, python } = message;
  return isCount(protocol) && typeof python === "string" ? { type: "ready", protocol, python } : null;
}

function parseOrder(message: Record<string, unknown>): OrderEvent | null {
  const { next, stdout, stderr, all, call } = message;
  if ((next !== "stdout" && next !== "stderr") || !isCount(stdout) || !isCount(stderr) || !isMark(all)) return null;
  if (call !== undefined && !isCount(call)) return null;
  return { type: "order", next, stdout, stderr, ...(all && { all }), ...(call !== undefined && { call }) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isDuration(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isMark(value: unknown): value is true | undefined {
  return value === undefined || value === true;
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
