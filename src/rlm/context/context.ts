// The context of a run: variables of the session, byte for byte, loaded once. The model sees names, sizes and short previews.

import { open, readFile, stat } from "node:fs/promises";
import type { Session } from "../../session/session.ts";
import type { FileRange, VariableValue } from "../../session/state/set-variable.ts";
import { parseContextFacts, type ContextFacts } from "../../protocol/worker/context-facts.ts";
import { readExactly } from "../../util/bytes/read-exactly.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { describeContext } from "./describe-context.ts";

export interface ContextItem {
  /** The name of the variable. */
  readonly name: string;
  readonly kind: "text" | "json" | "files" | "bytes";
  readonly bytes: number;
  readonly value: Exclude<VariableValue, { readonly open: unknown }> | readonly ContextFile[];
}

/** A file that becomes a value in a dict, under its name. */
export interface ContextFile {
  readonly name: string;
  /** On the host. */
  readonly path: string;
  /** Absent: all of it. */
  readonly range?: FileRange;
}

interface Loaded {
  readonly name: string;
  readonly bytes: Buffer;
}

const PREVIEW = 500;
const BATCH_BYTES = 16 * 1024 * 1024;

/** Sets the variables. A file that is not UTF-8 becomes bytes, so that nothing is lost. */
export async function loadContext(session: Session, items: readonly ContextItem[], signal: AbortSignal): Promise<void> {
  for (const { name, value } of items) {
    if (isFiles(value)) await loadFiles(session, name, value, signal);
    else if ("file" in value && value.as !== "json") await loadFile(session, value, [name, null], signal);
    else await session.set(name, value, { timeoutMs: null, signal });
  }
}

/** The description for the model. */
export async function describeItems(
  session: Session,
  items: readonly ContextItem[],
  maxCharacters: number,
): Promise<string> {
  if (items.length === 0) return "";
  const names = JSON.stringify(items.map(({ name }) => name));
  const { value } = (
    await session.execute(`__import__("rlm_context").describe(${JSON.stringify(names)}, ${PREVIEW})`).result
  ).unwrap();
  return describeContext(parseFacts(value?.["text/plain"]), maxCharacters);
}

function isFiles(value: ContextItem["value"]): value is readonly ContextFile[] {
  return Array.isArray(value);
}

/** A dict from name to text. Small files are batched, since a round trip to the session costs more than they do. */
async function loadFiles(
  session: Session,
  name: string,
  files: readonly ContextFile[],
  signal: AbortSignal,
): Promise<void> {
  await session.set(name, { json: {} }, { signal });
  let batch: Loaded[] = [];
  let size = 0;
  for (const { name: key, path, range } of files) {
    if ((range?.length ?? (await stat(path)).size) > BATCH_BYTES) {
      await loadFile(session, { file: path, ...(range && { range }) }, [name, key], signal);
      continue;
    }
    const bytes = range === undefined ? await readFile(path, { signal }) : await readRange(path, range);
    if (size + bytes.length > BATCH_BYTES) {
      await loadBatch(session, name, batch, signal);
      batch = [];
      size = 0;
    }
    batch.push({ name: key, bytes });
    size += bytes.length;
  }
  await loadBatch(session, name, batch, signal);
}

async function loadBatch(session: Session, name: string, batch: readonly Loaded[], signal: AbortSignal): Promise<void> {
  const options = { timeoutMs: null, signal };
  await session.set("_rlm_files", { bytes: Buffer.concat(batch.map(({ bytes }) => bytes)) }, options);
  await session.set("_rlm_sizes", { json: batch.map(({ name: key, bytes }) => [key, bytes.length]) }, options);
  (await session.execute(`__import__("rlm_context").unpack(${JSON.stringify(name)})`, options).result).unwrap();
}

async function readRange(path: string, { offset, length }: FileRange): Promise<Buffer> {
  const file = await open(path);
  try {
    return await readExactly(file, offset, length);
  } finally {
    await file.close();
  }
}

/** `target`: the variable, and the key in it where it is a dict. */
async function loadFile(
  session: Session,
  { file, range }: { readonly file: string; readonly range?: FileRange },
  target: readonly [string, string | null],
  signal: AbortSignal,
): Promise<void> {
  await session.set("_rlm_file", { file, as: "bytes", ...(range && { range }) }, { timeoutMs: null, signal });
  const [name, key] = target.map((part) => (part === null ? "None" : JSON.stringify(part)));
  (
    await session.execute(`__import__("rlm_context").decode_file(${name}, ${key})`, { timeoutMs: null, signal }).result
  ).unwrap();
}

/** The session answers with base64 of JSON, as a Python literal. Empty for anything else. */
function parseFacts(printed = ""): readonly ContextFacts[] {
  const base64 = /^'([\s\S]*)'$/.exec(printed)?.[1] ?? "";
  return parseContextFacts(parseJSON(Buffer.from(base64, "base64").toString())) ?? [];
}
