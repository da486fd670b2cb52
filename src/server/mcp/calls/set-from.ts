// Sets variables from a value in the call, or from a file that the model need not see.

import { isUtf8 } from "node:buffer";
import { FileError, type FileReason } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import type { OpenedFile } from "./host-paths.ts";
import { ArgumentsError } from "../tools/arguments-error.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { parseJSON } from "../../../util/parse-json.ts";
import { formatCount } from "../../../util/text/format.ts";

/** JSON if it parses, else text. */
export async function setFromValue(
  session: Session,
  key: string,
  value: string,
  { signal }: ToolCall,
): Promise<string> {
  const json = parseJSON(value);
  await session.set(key, { text: value, as: json === undefined ? "text" : "json" }, { signal });
  const what = json === undefined ? `text, ${formatCount(value.length, "character")}` : describe(json);
  return `${key} is set in session '${session.id}': ${what}.`;
}

/** Sets the text of a file in the session's working directory, or in a visible folder. */
export async function setFromPath(session: Session, key: string, path: string, call: ToolCall): Promise<string> {
  const { signal } = call;
  const source = await findText(session, path, call);
  if ("text" in source) await session.set(key, source, { signal });
  else {
    using file = source.file;
    const setting = session.set(key, { file: file.path, as: "text" }, { signal });
    await setting.catch((error: unknown) => {
      if (error instanceof Error && error.message.includes(NOT_TEXT)) throw notText(path);
      return file.fail(error);
    });
  }
  const found = await session.inspect(key, { maxCharacters: 1 }).catch(() => null); // only for the message
  const length = found?.length === undefined ? "" : `, ${formatCount(found.length, "character")}`;
  return `${key} is set in session '${session.id}': the text of ${path}${length}.`;
}

const NOT_TEXT = "it is not UTF-8";

/** The caller closes the file. */
export type TextSource = { readonly file: OpenedFile } | { readonly text: string };

export async function findText(session: Session, path: string, call: ToolCall): Promise<TextSource> {
  return path.startsWith("/") ? findAbsolute(session, path, call) : findRelative(session, path, call);
}

async function findAbsolute(session: Session, path: string, call: ToolCall): Promise<TextSource> {
  const file = await call.hostPaths.openVisible(path);
  if (file !== undefined) return { file };
  if (path.startsWith(`${session.files.folder}/`)) return readOwn(session, path, call);
  const visible = call.hostPaths.describe();
  throw new ArgumentsError(
    `Cannot read '${path}': it is in none of the folders that sessions see${visible === "" ? "" : `: ${visible}`}, nor in the session's own ${session.files.folder}.`,
  );
}

/** First in the working directory, then where the server was started: a model may mean either. */
async function findRelative(session: Session, path: string, call: ToolCall): Promise<TextSource> {
  try {
    return await readOwn(session, path, call);
  } catch (error) {
    if (!(error instanceof FileError && ELSEWHERE.has(error.reason))) throw error;
    const file = await call.hostPaths.openVisible(path);
    if (file === undefined) throw error;
    return { file };
  }
}

const ELSEWHERE: ReadonlySet<FileReason> = new Set(["not-found", "not-a-folder", "denied"]);

async function readOwn(session: Session, path: string, { signal }: ToolCall): Promise<TextSource> {
  const bytes = await session.files.read(path, { signal });
  if (!isUtf8(bytes)) throw notText(path);
  return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
}

function notText(path: string): ArgumentsError {
  return new ArgumentsError(`Cannot read '${path}' as text: ${NOT_TEXT}. Open it in execute_python instead.`);
}

function describe(json: unknown): string {
  if (Array.isArray(json)) return `list, ${formatCount(json.length, "item")}`;
  if (json === null) return "None";
  if (typeof json === "object") return `dict, ${formatCount(Object.keys(json).length, "key")}`;
  return typeof json === "string" ? `text, ${formatCount(json.length, "character")}` : JSON.stringify(json);
}
