// The context of a run, as the server takes it: inline where it is one small value, and otherwise as parts of a form.

import { checkContextFiles, checkContextName, checkContextText } from "../../api/checks/check-context.ts";
import type { Context, ContextValue } from "../../api/run.ts";
import type { Content } from "../../api/web-types.ts";

/** One part of a form, and what the server makes of it. */
export interface ContextPart {
  readonly variable: string;
  /** The value itself; absent for an entry of a dict. */
  readonly as?: "text" | "json";
  /** The name of an entry of a dict. */
  readonly file?: string;
  readonly content: Content;
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
  const [{ as, content: text } = {}] = parts;
  const isSmall = typeof text === "string" && text.length <= MAX_INLINE_CHARACTERS;
  if (isSmall && as === "text") return { inline: { context: text }, parts: [] };
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
  const isOne = others.length === 0 || (key === "text" && others.length === 1 && others[0] === "as");
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
    return [{ variable, as: "text", content: value }];
  }
  if (typeof value === "object" && value !== null) {
    if ("text" in value) {
      checkContextText(variable, value.text, value.as);
      return [{ variable, as: value.as ?? "text", content: value.text }];
    }
    if ("json" in value) {
      const text = JSON.stringify(value.json) as string | undefined;
      if (text === undefined) throw new TypeError(`Cannot use the context '${variable}': JSON cannot say what it is`);
      return [{ variable, as: "json", content: text }];
    }
    if ("files" in value && Array.isArray(value.files)) {
      checkContextFiles(value.files, ["content"]);
      if (value.files.length === 0) return [{ variable, as: "json", content: "{}" }];
      return (value.files as readonly { name: string; content: Content }[]).map(({ name: file, content }) => ({
        variable,
        file,
        content,
      }));
    }
  }
  throw new TypeError(`Cannot use the context '${variable}': give a text, { text }, { json } or { files }`);
}
