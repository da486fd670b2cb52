// The context of a run: variables of the session, byte for byte, loaded once. The model sees names, sizes and short previews.

import type { Session } from "../../session/session.ts";
import type { FileRange, VariableValue } from "../../session/state/set-variable.ts";
import { parseContextFacts, type ContextFacts } from "../../protocol/worker/context-facts.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { describeContext } from "./describe-context.ts";
import { loadFile, loadFiles } from "./load-files.ts";
import { toLoadError } from "./load-error.ts";

export interface ContextItem {
  /** The name of the variable. */
  readonly name: string;
  readonly kind: "text" | "json" | "files" | "bytes";
  readonly bytes: number;
  readonly value: Exclude<VariableValue, { readonly open: unknown }> | readonly ContextFile[];
  /** The name of the folder that the files are in. */
  readonly folder?: string;
}

/** A file that becomes a value in a dict, under its name. */
export interface ContextFile {
  readonly name: string;
  /** On the host. */
  readonly path: string;
  /** When the run was requested. */
  readonly size: number;
  /** Absent: all of it. */
  readonly range?: FileRange;
}

const PREVIEW = 500;

/** Sets the variables. A file that is not UTF-8 becomes bytes, so that nothing is lost. */
export async function loadContext(session: Session, items: readonly ContextItem[], signal: AbortSignal): Promise<void> {
  for (const { name, value } of items) {
    try {
      if (isFiles(value)) await loadFiles(session, name, value, signal);
      else if ("file" in value && value.as !== "json") await loadFile(session, name, value, signal);
      else await session.set(name, value, { timeoutMs: null, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw toLoadError(error);
    }
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

/** The session answers with base64 of JSON, as a Python literal. Empty for anything else. */
function parseFacts(printed = ""): readonly ContextFacts[] {
  const base64 = /^'([\s\S]*)'$/.exec(printed)?.[1] ?? "";
  return parseContextFacts(parseJSON(Buffer.from(base64, "base64").toString())) ?? [];
}
