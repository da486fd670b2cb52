// Whether two requests for a run are the same request.
//
// Texts count by their digest; files of the host, too, where it is known, else by path, size and time of change: nothing is read for it.

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import type { FileRange } from "../session/state/set-variable.ts";
import type { ContextItem } from "./context/context-item.ts";
import type { RunSettings } from "./run-context.ts";

type RunRequestFacts = Pick<
  RunSettings,
  | "query"
  | "context"
  | "schema"
  | "model"
  | "subModel"
  | "childModel"
  | "extractModel"
  | "modelSettings"
  | "mode"
  | "maxDepth"
  | "maxIterations"
  | "limits"
  | "onLimit"
>;

export function fingerprintOf({ context, ...facts }: RunRequestFacts): string {
  const { query, schema = null, mode, maxDepth, maxIterations, limits, onLimit } = facts;
  const { model, subModel, childModel, extractModel, modelSettings: { temperature, seed } = {} } = facts;
  const models = [model, subModel, childModel, extractModel, temperature, seed];
  const sorted = Object.entries(limits).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const items = context.map(({ name, kind, value }) => [name, kind, describe(value)]);
  const request = [query, schema, models, mode, maxDepth, maxIterations, sorted, onLimit, items];
  return createHash("sha256").update(JSON.stringify(request)).digest("base64");
}

function describe(value: ContextItem["value"]): unknown {
  if (isFiles(value)) return value.map(({ name, path, range }) => [name, describeFile(path, range)]);
  if ("file" in value) return describeFile(value.file, value.range);
  if ("text" in value) return createHash("sha256").update(value.text).digest("base64");
  if ("bytes" in value) return createHash("sha256").update(value.bytes).digest("base64");
  return value.json;
}

function describeFile(path: string, range: FileRange | undefined): unknown {
  if (range?.digest !== undefined) return range.digest;
  const { size, mtimeMs } = statSync(path);
  return [path, size, mtimeMs, range ?? null];
}

function isFiles(value: ContextItem["value"]): value is Extract<ContextItem["value"], readonly unknown[]> {
  return Array.isArray(value);
}
