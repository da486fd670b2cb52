// Variables from outside: from what a model says, or from a file that it need not see.

import type { Session } from "../../runtime.ts";
import { ArgumentsError } from "./tool.ts";
import type { ToolCall } from "./tool-call.ts";
import { toCount } from "./words.ts";

/** Where code in a session finds its working directory. */
const WORKING_DIRECTORY = "/work/";

/** JSON where it parses, else the text itself. */
export async function setFromValue(
  session: Session,
  key: string,
  value: string,
  { signal }: ToolCall,
): Promise<string> {
  const json = parse(value);
  await session.set(key, { text: value, as: json === undefined ? "text" : "json" }, { signal });
  const what = json === undefined ? `text, ${toCount(value.length, "character")}` : describe(json.json);
  return `${key} is set in session '${session.id}': ${what}.`;
}

/** The text of a file that sessions see, or of one in the session's working directory. */
export async function setFromPath(session: Session, key: string, path: string, call: ToolCall): Promise<string> {
  const { folders, signal } = call;
  using place = path.startsWith("/") ? folders.openVisible(path) : undefined;
  if (place !== undefined) {
    const setting = session.set(key, { file: place.path, as: "text" }, { signal });
    await setting.catch((error: unknown) => place.fail(error));
  } else {
    if (path.startsWith("/") && !path.startsWith(WORKING_DIRECTORY)) {
      const visible = folders.describe();
      throw new ArgumentsError(
        `Cannot read '${path}': it is in none of the folders that sessions see${visible === "" ? "" : `: ${visible}`}, nor in the session's own /work.`,
      );
    }
    const bytes = await session.files.read(path, { signal });
    await session.set(key, { text: decode(bytes, path) }, { signal });
  }
  const found = await session.inspect(key, { maxCharacters: 1 }).catch(() => null); // it is set, whatever this says
  const length = found?.length === undefined ? "" : `, ${toCount(found.length, "character")}`;
  return `${key} is set in session '${session.id}': the text of ${path}${length}.`;
}

function parse(value: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(value) as unknown };
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ArgumentsError(`Cannot read '${path}' as text: it is not UTF-8.`);
  }
}

function describe(json: unknown): string {
  if (Array.isArray(json)) return `list, ${toCount(json.length, "item")}`;
  if (json === null) return "None";
  if (typeof json === "object") return `dict, ${toCount(Object.keys(json).length, "key")}`;
  return typeof json === "string" ? `text, ${toCount(json.length, "character")}` : JSON.stringify(json);
}
