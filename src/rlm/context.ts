// The material of a run: variables of the session, byte for byte, loaded once. The model sees names, sizes and short previews.

import { readFile } from "node:fs/promises";
import type { Session } from "../session/session.ts";
import type { VariableValue } from "../session/set-variable.ts";
import { describeContext, type ContextFacts } from "./describe-context.ts";

export interface ContextItem {
  /** Of the variable. */
  readonly name: string;
  readonly kind: "text" | "json" | "files" | "bytes";
  readonly bytes: number;
  readonly value: VariableValue | readonly ContextFile[];
}

/** A file that becomes a value of a dict, by its name. */
export interface ContextFile {
  readonly name: string;
  /** On the host. */
  readonly path: string;
}

const PREVIEW = 500;
const BATCH_BYTES = 16 * 1024 * 1024;

/** Sets the variables and gives what describes them to the model. */
export async function loadContext(session: Session, items: readonly ContextItem[]): Promise<string> {
  for (const item of items) {
    const { name, value } = item;
    if (isFiles(value)) await loadFiles(session, name, value);
    else await session.set(name, value);
  }
  if (items.length === 0) return "";
  const names = JSON.stringify(items.map(({ name }) => name));
  const { value } = (
    await session.execute(`rlm_session.describe(globals(), ${JSON.stringify(names)}, ${PREVIEW})`).result
  ).unwrap();
  return describeContext(parseFacts(value?.["text/plain"]));
}

function isFiles(value: ContextItem["value"]): value is readonly ContextFile[] {
  return Array.isArray(value);
}

/** A dict from name to text. Small files travel together: each trip to the session costs more than they do. */
async function loadFiles(session: Session, name: string, files: readonly ContextFile[]): Promise<void> {
  await session.set(name, { json: {} });
  let batch: { readonly name: string; readonly bytes: Buffer }[] = [];
  let size = 0;
  for (const file of files) {
    const bytes = await readFile(file.path);
    if (size + bytes.length > BATCH_BYTES && batch.length > 0) {
      await loadBatch(session, name, batch);
      batch = [];
      size = 0;
    }
    batch.push({ name: file.name, bytes });
    size += bytes.length;
  }
  if (batch.length > 0) await loadBatch(session, name, batch);
}

async function loadBatch(
  session: Session,
  name: string,
  batch: readonly { readonly name: string; readonly bytes: Buffer }[],
): Promise<void> {
  await session.set("_rlm_bytes", { bytes: Buffer.concat(batch.map(({ bytes }) => bytes)) });
  await session.set("_rlm_sizes", { json: batch.map(({ name: key, bytes }) => [key, bytes.length]) });
  const code = `rlm_session.unpack(${name}, globals().pop("_rlm_bytes"), globals().pop("_rlm_sizes"))`;
  (await session.execute(code, { timeoutMs: null }).result).unwrap();
}

/** What the session says is a Python literal of JSON text. */
function parseFacts(printed: string | undefined): readonly ContextFacts[] {
  if (printed === undefined) return [];
  const json = /^'([\s\S]*)'$/.exec(printed)?.[1];
  return json === undefined ? [] : (JSON.parse(Buffer.from(json, "base64").toString()) as ContextFacts[]);
}
