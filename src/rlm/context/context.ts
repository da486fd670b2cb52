// The context of a run: variables of the session, byte for byte, loaded once. The model sees names, sizes and short previews.

import type { Session } from "../../session/session.ts";
import { parseContextFacts, type ContextFacts } from "../../protocol/worker/context-facts.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { isFiles, type ContextItem } from "./context-item.ts";
import { describeContext } from "./describe-context.ts";
import { loadFile, loadFiles } from "./load-files.ts";
import { toLoadError } from "./load-error.ts";
import { checkMemory } from "./memory-need.ts";

const PREVIEW = 500;

/** Sets the variables. A file that is not UTF-8 becomes bytes, so that nothing is lost. */
export async function loadContext(session: Session, items: readonly ContextItem[], signal: AbortSignal): Promise<void> {
  const { memoryBytes } = session.limits;
  let loading: ContextItem | undefined;
  try {
    await checkMemory(items, memoryBytes, signal);
    for (loading of items) await loadItem(session, loading, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw toLoadError(error, { items, item: loading, memoryBytes });
  }
}

async function loadItem(session: Session, { name, value }: ContextItem, signal: AbortSignal): Promise<void> {
  if (isFiles(value)) await loadFiles(session, name, value, signal);
  else if ("file" in value && value.as !== "json") await loadFile(session, name, value, signal);
  else await session.set(name, value, { timeoutMs: null, signal });
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
  const folders = items.flatMap(({ name, folder }) => (folder === undefined ? [] : [[name, folder] as const]));
  return describeContext(parseFacts(value?.["text/plain"]), maxCharacters, new Map(folders));
}

/** The session answers with base64 of JSON, as a Python literal. Empty for anything else. */
function parseFacts(printed = ""): readonly ContextFacts[] {
  const base64 = /^'([\s\S]*)'$/.exec(printed)?.[1] ?? "";
  return parseContextFacts(parseJSON(Buffer.from(base64, "base64").toString())) ?? [];
}
