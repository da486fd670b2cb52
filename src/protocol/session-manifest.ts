// What a session file says of itself. A worker wrote most of it, and anybody may have written the file: read it here.

import type { InterpreterVersion } from "./host-messages.ts";

export const SESSION_FILE_FORMAT = 1;
/** As JSON, in bytes. */
export const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;

/** A variable that is not there, and why. */
export interface SkippedVariable {
  readonly name: string;
  readonly why: string;
}

/** What a worker says of a state that it saved. */
export interface SavedState extends InterpreterVersion {
  readonly names: readonly string[];
  readonly skipped: readonly SkippedVariable[];
  /** Modules that are imported again where the file is loaded. */
  readonly modules: readonly string[];
}

export interface SessionManifest extends SavedState {
  readonly format: typeof SESSION_FILE_FORMAT;
  /** The version of this package. */
  readonly version: string;
  /** When it was saved. */
  readonly created: string;
}

const MAX_ENTRIES = 200_000;
const MAX_TEXT = 4096;

/** `null` for what no worker of ours would say. */
export function parseSavedState(data: Readonly<Record<string, unknown>>): SavedState | null {
  const { python, implementation, bytecode } = data;
  if (!isText(python) || !isText(implementation) || !isText(bytecode)) return null;
  const [names, modules, skipped] = [parseTexts(data["names"]), parseTexts(data["modules"]), parseSkipped(data)];
  if (names === null || modules === null || skipped === null) return null;
  return { python, implementation, bytecode, names, modules, skipped };
}

/** `null` for what is no manifest. One of another format is told by its number. */
export function parseManifest(data: unknown): SessionManifest | { readonly format: number } | null {
  if (typeof data !== "object" || data === null) return null;
  const manifest = data as Readonly<Record<string, unknown>>;
  const { format, version, created } = manifest;
  if (typeof format !== "number") return null;
  if (format !== SESSION_FILE_FORMAT) return { format };
  const state = parseSavedState(manifest);
  if (state === null || !isText(version) || !isText(created)) return null;
  return { format, version, created, ...state };
}

/** The list `skipped` of a report; `null` for what is none. */
export function parseSkipped(data: Readonly<Record<string, unknown>>): SkippedVariable[] | null {
  const { skipped } = data;
  if (!Array.isArray(skipped) || skipped.length > MAX_ENTRIES) return null;
  const parsed = skipped.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null) return null;
    const { name, why } = entry as Readonly<Record<string, unknown>>;
    return isText(name) && isText(why) ? { name, why } : null;
  });
  return parsed.every((entry) => entry !== null) ? parsed : null;
}

/** `null` for what is no list of names. */
export function parseTexts(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length > MAX_ENTRIES) return null;
  return value.every(isText) ? value : null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_TEXT;
}
