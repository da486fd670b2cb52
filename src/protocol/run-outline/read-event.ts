// Fields of events that are not trusted. Null: it is no such value.

import type { LedgerAxis, LedgerLimits, RunStatus, StopReason } from "../runs.ts";
import { isBlobReference } from "./stored-text.ts";
import type { OutlineNode, OutlineSpan } from "./run-outline.ts";

const MAX_ID_CHARACTERS = 200;
/** The last time that a `Date` can have. */
const MAX_TIME = 8.64e15;
const AXES: readonly LedgerAxis[] = ["tokens", "costUsd", "llmCalls", "toolCalls", "wallMs", "iterations"];
const STATUSES: readonly RunStatus[] = ["final", "partial", "failed", "cancelled"];
const STOP_REASONS: readonly StopReason[] = ["answered", ...AXES, "error", "cancelled"];
const PURPOSES: readonly NonNullable<OutlineSpan["purpose"]>[] = ["step", "query", "extract", "direct"];

/** A whole number that is not negative. */
export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

export function number(value: unknown): number | null {
  return Number.isFinite(value) ? (value as number) : null;
}

export function time(value: unknown): number | null {
  const found = number(value);
  return found !== null && found >= 0 && found <= MAX_TIME ? found : null;
}

export function id(value: unknown): string | null {
  return typeof value === "string" && value.length <= MAX_ID_CHARACTERS ? value : null;
}

/** An empty object where it is none. */
export function object(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

export const axis = oneOf(AXES);
export const status = oneOf(STATUSES);
export const stopReason = oneOf(STOP_REASONS);
export const purpose = oneOf(PURPOSES);

function oneOf<Value extends string>(values: readonly Value[]): (value: unknown) => Value | null {
  return (value) => (values.includes(value as Value) ? (value as Value) : null);
}

export function limits(value: unknown): LedgerLimits {
  const found = object(value);
  const known = AXES.flatMap((name) => {
    const limit = number(found[name]);
    return limit === null ? [] : [[name, limit] as const];
  });
  return Object.fromEntries(known);
}

export function batch(value: unknown): Pick<OutlineNode, "batch"> {
  const { id: name, ordinal, size } = object(value);
  const found = { id: id(name), ordinal: count(ordinal), size: count(size) };
  if (found.id === null || found.ordinal === null || found.size === null) return {};
  return { batch: { id: found.id, ordinal: found.ordinal, size: found.size } };
}

export function usage(value: unknown): Pick<OutlineSpan, "inputTokens" | "outputTokens" | "costUsd"> {
  const { inputTokens, outputTokens, costUsd } = object(value);
  return {
    inputTokens: count(inputTokens) ?? 0,
    outputTokens: count(outputTokens) ?? 0,
    costUsd: number(costUsd),
  };
}

/** Raised by code that has given the answer: nothing went wrong. */
export function isFinal(error: unknown): boolean {
  return object(error)["name"] === "Final";
}

/** Of a result that is stored as a blob only the status is known. */
export function codeResult(value: unknown): Readonly<Record<string, unknown>> {
  if (!isBlobReference(value)) return object(value);
  return { status: /"status":"(\w+)"/.exec(value.head)?.[1] };
}
