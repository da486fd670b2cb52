// Messages of a file job, parsed. Names and sizes in them come from the session and are not trusted.

import { z } from "zod";
import { fileKind, type FileChange, type FileEntry } from "../files.ts";
import type { Shape } from "../shape.ts";

const MAX_DATA_BYTES = 1024 * 1024;
/** The last millisecond that a Date can represent. */
const MAX_TIME = 8.64e15;

const count = z.int().min(0);
const modifiedMs = z.number().min(-MAX_TIME).max(MAX_TIME);
const path = z.string();

const size = z
  .object({ type: z.literal("size"), size: count, modifiedMs, version: z.string().regex(/^[0-9a-f-]{1,80}$/) })
  .transform(({ modifiedMs: time, ...rest }) => ({ ...rest, modifiedAt: toISO(time) }));

const entry = z
  .object({
    type: z.literal("entry"),
    name: z.string(),
    path,
    kind: fileKind,
    size: count,
    modifiedMs,
    mode: count.max(0o7777),
    target: z.string().optional().catch(undefined),
  })
  .transform(({ type, kind, modifiedMs: time, target, ...rest }) => ({
    type,
    entry: { ...rest, type: kind, modifiedAt: toISO(time), ...(target !== undefined && { target }) },
  }));

const change = z.discriminatedUnion("change", [
  z
    .object({ type: z.literal("change"), change: z.enum(["created", "modified", "removed", "overflow"]), path })
    .transform(({ type, change: what, path: at }) => ({ type, change: { type: what, path: at } })),
  z
    .object({ type: z.literal("change"), change: z.literal("renamed"), path, from: z.string() })
    .transform(({ type, change: what, path: at, from }) => ({ type, change: { type: what, path: at, from } })),
]);

export const jobError = z.object({
  type: z.literal("error"),
  reason: z
    .enum([
      "not-found",
      "exists",
      "not-a-folder",
      "is-a-folder",
      "not-a-file",
      "no-space",
      "too-large",
      "denied",
      "refused",
    ])
    .describe("`refused`: the path leads out of the working directory"),
  why: z.string(),
});
export type JobError = Shape<typeof jobError>;

const jobAnswer = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["busy", "ready"]) }),
  size,
  z.object({ type: z.literal("data"), bytes: count.max(MAX_DATA_BYTES) }),
  entry,
  change,
  z.object({ type: z.literal("done"), omitted: count.catch(0), made: z.boolean().catch(false) }),
  jobError,
]);

export type JobAnswer =
  | { readonly type: "busy" | "ready" }
  | { readonly type: "size"; readonly size: number; readonly modifiedAt: string; readonly version: string }
  | { readonly type: "data"; readonly bytes: number }
  | { readonly type: "entry"; readonly entry: FileEntry }
  | { readonly type: "change"; readonly change: FileChange }
  | { readonly type: "done"; readonly omitted: number; readonly made: boolean }
  | JobError;

/** Null for an unknown message. */
export function parseJobAnswer(message: unknown): JobAnswer | null {
  return jobAnswer.safeParse(message).data ?? null;
}

function toISO(time: number): string {
  return new Date(time).toISOString();
}
