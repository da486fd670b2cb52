// The manifest of a session file. Most of it comes from a worker, and anybody may have written the file.

import { z } from "zod";
import { parseWith } from "./worker/parse.ts";
import type { Shape } from "./shape.ts";

export const SESSION_FILE_FORMAT = 2;
/** As JSON, in bytes. */
export const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;
const MAX_ENTRIES = 200_000;
const MAX_TEXT = 4096;

const text = z.string().max(MAX_TEXT);
const texts = z.array(text).max(MAX_ENTRIES);

export const skippedVariable = z
  .object({ name: text.describe("Its name"), why: text.describe("The reason") })
  .describe("A variable that was not saved or loaded, and the reason");
export type SkippedVariable = Shape<typeof skippedVariable>;

const skippedVariables = z.array(skippedVariable).max(MAX_ENTRIES);

export const savedState = z
  .object({
    python: text,
    implementation: text,
    bytecode: text,
    names: texts,
    modules: texts.describe("Modules that are imported again when the file is loaded"),
    skipped: skippedVariables,
  })
  .describe("What a worker reports about a state that it saved");
export type SavedState = Shape<typeof savedState>;

export const sessionManifest = savedState.extend({
  format: z.literal(SESSION_FILE_FORMAT),
  version: text.describe("The version of this package"),
  created: text.describe("When it was saved"),
});
export type SessionManifest = Shape<typeof sessionManifest>;

const otherFormat = z.object({ format: z.number().refine((format) => format !== SESSION_FILE_FORMAT) });

export const loadReport = z
  .object({
    names: texts.describe("The variables that were loaded"),
    count: z.int().describe("How many they are"),
    skipped: skippedVariables.describe("What the file has but could not be loaded, and why"),
  })
  .describe("What was loaded from a session file");
export type LoadReport = Shape<typeof loadReport>;

/** Null for what no worker of ours would report. */
export function parseSavedState(data: unknown): SavedState | null {
  return parseWith(savedState, data) ?? null;
}

/** Null for what is not a manifest. Of another format only the number is known. */
export function parseManifest(data: unknown): SessionManifest | { readonly format: number } | null {
  return parseWith(sessionManifest, data) ?? parseWith(otherFormat, data) ?? null;
}

/** Null for what no worker of ours would report. */
export function parseLoaded(data: unknown): LoadReport | null {
  const loaded = parseWith(loadReport.omit({ count: true }), data);
  return loaded === undefined ? null : { ...loaded, count: loaded.names.length };
}

/** What was saved to a session file. */
export interface SaveReport {
  /** Where the file is. */
  readonly path: string;
  /** Its size. */
  readonly sizeBytes: number;
  /** The variables that were saved. */
  readonly names: readonly string[];
  /** Variables that could not be saved, with the reasons. */
  readonly skipped: readonly SkippedVariable[];
  /** SHA-256 of the file, which is checked when it is loaded. */
  readonly digest: string;
}
