// The context of a run, as the server takes it: inline where it is one small value, and otherwise as parts of a form.

import { checkContextFiles, checkContextName, checkContextText } from "../../api/checks/check-context.ts";
import { isBlob } from "../../api/content.ts";
import type { Context, ContextFile, ContextValue } from "../../api/run.ts";
import type { Content } from "../../api/web-types.ts";

/** One part of a form, and what the server makes of it. */
export interface ContextPart {
  /** The value of the variable, an entry of a dict, or several of them whose contents follow each other. */
  readonly part: { readonly variable: string } & (
    | { readonly as: "text" | "json" }
    | { readonly file: string }
    | { readonly files: readonly SizedFile[]; readonly folder?: string | undefined }
  );
  readonly contents: readonly Content[];
}

interface SizedFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
}

interface SentContext {
  /** A field of the request. Empty: there is none. */
  readonly inline: { readonly context?: unknown };
  readonly parts: readonly ContextPart[];
}

const KEYS = ["text", "json", "files"];
const HOST_FILE = "Cannot use { file } as the context: a server cannot read files here. Give { text } with a stream";
/** A larger context is streamed. */
const MAX_INLINE_CHARACTERS = 1024 * 1024;

/** Throws a TypeError for an invalid context, and a RangeError for a name that Python does not take. */
export function toContext(context: Context | undefined): SentContext {
  if (context === undefined) return { inline: {}, parts: [] };
  if (isHostFile(context)) throw new TypeError(HOST_FILE);
  if (!isValue(context)) {
    const variables = Object.entries(context);
    for (const [name] of variables) checkContextName(name);
    return { inline: {}, parts: variables.flatMap(([name, value]) => toParts(name, value)) };
  }
  const parts = toParts("context", context);
  const [first] = parts;
  const text = first?.contents[0];
  const isSmall = typeof text === "string" && text.length <= MAX_INLINE_CHARACTERS;
  if (isSmall && first && "as" in first.part && first.part.as === "text")
    return { inline: { context: text }, parts: [] };
  const isJSON = typeof context === "object" && "json" in context;
  return isSmall && isJSON ? { inline: { context: context.json }, parts: [] } : { inline: {}, parts };
}

/** What a runtime on this machine takes for a file. Sent as a variable of that name, it would be the path instead of the content. */
function isHostFile(context: Context): boolean {
  if (typeof context !== "object" || context === null) return false;
  const [key, ...others] = Object.keys(context);
  return key === "file" && others.every((other) => other === "as") && typeof Object.values(context)[0] === "string";
}

function isValue(context: Context): context is ContextValue {
  if (typeof context !== "object" || context === null) return true;
  const [key, ...others] = Object.keys(context);
  const detail = { text: "as", files: "folder" }[key ?? ""];
  const isOne = others.every((other) => other === detail);
  return isOne && key !== undefined && KEYS.includes(key) && !isNested(context);
}

/** True for a variable that is named like a kind of value. */
function isNested(context: object): boolean {
  const [value] = Object.values(context) as unknown[];
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && Object.keys(value).some((key) => KEYS.includes(key)) && !("json" in context);
}

function toParts(variable: string, value: ContextValue): readonly ContextPart[] {
  if (typeof value === "string") {
    checkContextText(variable, value, undefined);
    return [toSingle(variable, "text", value)];
  }
  if (typeof value === "object" && value !== null) {
    if ("text" in value) {
      checkContextText(variable, value.text, value.as);
      return [toSingle(variable, value.as ?? "text", value.text)];
    }
    if ("json" in value) {
      const text = JSON.stringify(value.json) as string | undefined;
      if (text === undefined) throw new TypeError(`Cannot use the context '${variable}': JSON cannot say what it is`);
      return [toSingle(variable, "json", text)];
    }
    if ("files" in value && Array.isArray(value.files)) {
      checkContextFiles(value.files, ["content"], value.folder);
      if (value.files.length === 0) return [toSingle(variable, "json", "{}")];
      return toFileParts(variable, value.files as readonly ContextFile[], value.folder);
    }
  }
  throw new TypeError(`Cannot use the context '${variable}': give a text, { text }, { json } or { files }`);
}

function toSingle(variable: string, as: "text" | "json", content: Content): ContextPart {
  return { part: { variable, as }, contents: [content] };
}

/** Files whose sizes are known share a part with their neighbours, because a form may have a thousand parts. */
function toFileParts(
  variable: string,
  files: readonly ContextFile[],
  folder: string | undefined,
): readonly ContextPart[] {
  const parts: ContextPart[] = [];
  let sized: { readonly files: SizedFile[]; readonly contents: Content[] } | undefined;
  for (const { name, content } of files) {
    const size = sizeOf(content);
    if (size === undefined) {
      parts.push({ part: { variable, file: name }, contents: [content] });
      sized = undefined;
      continue;
    }
    if (sized === undefined) {
      sized = { files: [], contents: [] };
      parts.push({ part: { variable, files: sized.files, folder }, contents: sized.contents });
    }
    sized.files.push({ name, size });
    sized.contents.push(content);
  }
  return parts;
}

/** In bytes. Undefined: it is not known before the end. */
function sizeOf(content: Content): number | undefined {
  if (typeof content === "string") return new TextEncoder().encode(content).length;
  if (content instanceof Uint8Array) return content.length;
  return isBlob(content) ? content.size : undefined;
}
