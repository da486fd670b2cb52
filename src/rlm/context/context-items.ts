// The caller's context as variables of the root session.

import { statSync } from "node:fs";
import { checkContextName, checkContextText } from "../../api/checks/check-context.ts";
import type { FileRange } from "../../session/state/set-variable.ts";
import { RESERVED_NAMES } from "../../tools/run-names.ts";
import type { ContextFile, ContextItem } from "./context-item.ts";

/** The value of one variable. */
export type ContextValue =
  | string
  /** JSON is parsed by Python, so integers of any size are exact. */
  | { readonly text: string; readonly as?: "text" | "json" }
  | { readonly json: unknown }
  /** A path of the host, read as text. JSON is parsed by Python. */
  | { readonly file: string; readonly as?: "text" | "json"; readonly range?: FileRange }
  /** A dict from name to text. */
  | {
      readonly files: readonly GivenFile[];
      /** The name of the folder they are in, for the model. */
      readonly folder?: string | undefined;
    };

/** Its size is looked up where it is not known. */
type GivenFile = Omit<ContextFile, "size"> & Partial<Pick<ContextFile, "size">>;

/** A single value is the variable `context`; an object with other keys has one variable per key. */
export type Context = ContextValue | { readonly [variable: string]: ContextValue };

const KEYS = ["text", "json", "file", "files"];
/** What may be beside them. */
const DETAILS: Readonly<Record<string, readonly string[]>> = { file: ["as", "range"], text: ["as"], files: ["folder"] };

/** Throws a TypeError for an invalid context, and the system's error for a missing file. */
export function toContextItems(context: Context | undefined): readonly ContextItem[] {
  if (context === undefined) return [];
  if (isValue(context)) return [toItem("context", context)];
  return Object.entries(context).map(([name, value]) => {
    checkVariableName(name);
    return toItem(name, value);
  });
}

function isValue(context: Context): context is ContextValue {
  if (typeof context !== "object") return true;
  const [key, ...others] = Object.keys(context);
  const isOne = others.every((other) => DETAILS[key ?? ""]?.includes(other));
  return isOne && key !== undefined && KEYS.includes(key) && !isNested(context);
}

/** True for a variable that is named like a kind of value. */
function isNested(context: object): boolean {
  const [value] = Object.values(context) as unknown[];
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).some((key) => KEYS.includes(key)) &&
    !("json" in context)
  );
}

function toItem(name: string, value: ContextValue): ContextItem {
  if (typeof value === "string") {
    checkContextText(name, value, undefined);
    return { name, kind: "text", bytes: Buffer.byteLength(value), value: { text: value } };
  }
  if ("text" in value) {
    checkContextText(name, value.text, value.as);
    const kind = value.as ?? "text";
    return { name, kind, bytes: Buffer.byteLength(value.text), value: { text: value.text, as: kind } };
  }
  if ("json" in value) {
    const text = JSON.stringify(value.json);
    if (text === undefined) throw new TypeError(`Cannot use the context '${name}': JSON cannot say what it is`);
    return { name, kind: "json", bytes: Buffer.byteLength(text), value: { text, as: "json" } };
  }
  if ("file" in value) {
    const { file, as: kind = "text", range } = value;
    return { name, kind, bytes: sizeOf(file, range), value: { file, as: kind, ...(range && { range }) } };
  }
  if ("files" in value) {
    const files = value.files.map((file) => ({ ...file, size: file.size ?? sizeOf(file.path, file.range) }));
    const { folder } = value;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    return { name, kind: "files", bytes, value: files, ...(folder !== undefined && { folder }) };
  }
  throw new TypeError(`Cannot use the context '${name}': give a text, { text }, { json }, { file } or { files }`);
}

/** Without opening it: a named pipe would wait for a writer. */
function sizeOf(path: string, range: FileRange | undefined): number {
  if (range !== undefined) return range.length;
  const stats = statSync(path);
  if (!stats.isFile())
    throw new TypeError(`Cannot use '${path}' as context: it is ${stats.isDirectory() ? "a folder" : "not a file"}`);
  return stats.size;
}

/** Throws a RangeError for a name that is not a Python identifier, or is reserved. */
function checkVariableName(name: string): void {
  checkContextName(name);
  if (RESERVED_NAMES.has(name))
    throw new RangeError(`Cannot name a variable of the context '${name}': runs have a function of this name`);
}
