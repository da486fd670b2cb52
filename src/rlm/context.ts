// The material of a run: variables of the session, byte for byte, loaded once. The model sees names, sizes and short previews.

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

/** A dict from name to text. */
async function loadFiles(session: Session, name: string, files: readonly ContextFile[]): Promise<void> {
  await session.set(name, { json: {} });
  for (const { name: key, path } of files) {
    await session.set("_rlm_file", { file: path, as: "bytes" });
    const code = `${name}[${JSON.stringify(key)}] = globals().pop("_rlm_file").decode("utf-8", "replace")`;
    (await session.execute(code).result).unwrap();
  }
}

/** What the session says is a Python literal of JSON text. */
function parseFacts(printed: string | undefined): readonly ContextFacts[] {
  if (printed === undefined) return [];
  const json = /^'([\s\S]*)'$/.exec(printed)?.[1];
  return json === undefined ? [] : (JSON.parse(Buffer.from(json, "base64").toString()) as ContextFacts[]);
}
