// Fields of the user for the body of a request, which we know nothing about.
//
// They are merged like a JSON merge patch (RFC 7396): objects are merged, null removes a field, everything else replaces. So they can
// also take back what we send. What decides which model is asked what, and how its answer is read, is not theirs.

import { BackendConnectionError } from "../../errors.ts";
import type { BackendRequest } from "../backend.ts";
import type { Fields } from "./protocols/wire-protocol.ts";

const OURS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "input",
  "contents",
  "system",
  "systemInstruction",
  "stream",
]);
/** Below this depth values replace each other. */
const MAX_DEPTH = 8;

/** The fields that it may not have. Empty: it can be used. */
export function refusedFields(extraBody: NonNullable<BackendRequest["extraBody"]>): readonly string[] {
  return Object.keys(extraBody).filter((name) => OURS.has(name));
}

/** Throws a BackendConnectionError (`configuration`) for a field that is ours. */
export function mergeExtraBody(body: Fields, extraBody: BackendRequest["extraBody"], backend: string): Fields {
  if (extraBody === undefined) return body;
  const [refused] = refusedFields(extraBody);
  if (refused === undefined) return merge(body, extraBody, 0);
  const why = `the extra body may not set '${refused}', which is part of every request`;
  throw new BackendConnectionError({ backend, fault: "configuration", why, retryable: false });
}

function merge(target: Fields, patch: Fields, depth: number): Fields {
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    const old = merged.get(name);
    if (value === null) merged.delete(name);
    else merged.set(name, isObject(old) && isObject(value) && depth < MAX_DEPTH ? merge(old, value, depth + 1) : value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
