// What a worker says of its namespace, parsed: user code may have written every word of it.

import { isCount, isRecord, type StatusEvent } from "./worker-events.ts";

export type VariableKind = "variable" | "function" | "class" | "module";

/** One name of a namespace, with what can be told without asking the value. */
export interface Variable {
  readonly name: string;
  /** The name of its type. */
  readonly type: string;
  /** Where the type is defined. */
  readonly module: string | null;
  readonly kind: VariableKind;
  /** Items, or characters, or bytes. */
  readonly length?: number;
  readonly shape?: readonly number[];
  readonly dtype?: string;
  readonly preview?: string;
}

export interface VariableList {
  readonly variables: readonly Variable[];
  /** How many names there are; more than are listed when there are more than 10,000. */
  readonly total: number;
}

/** A text that may have been cut at its end. */
export interface VariableText {
  readonly text: string;
  /** Characters of the whole; null when it was never made whole. */
  readonly total: number | null;
  /** Only so many characters, or bytes, of the value were looked at. */
  readonly ofFirst?: number;
}

export interface Column {
  readonly name: string;
  readonly dtype: string;
}

/** Why something was not found out: its time was over, it ended the process it ran in, or there was no process to be had. */
export type Incomplete = "timeout" | "crashed" | "no-process";

export interface InspectedVariable extends Variable {
  /** Of the value itself, not of what it refers to; of an array or a table the size of its data. */
  readonly sizeBytes?: number;
  /** The first 200. */
  readonly columns?: readonly Column[];
  readonly columnCount?: number;
  readonly repr?: VariableText;
  readonly str?: VariableText;
  /** What the value raised when it was asked, as "ValueError: ...", by what it was asked for. */
  readonly errors: Readonly<Partial<Record<"facts" | "preview" | "repr" | "str", string>>>;
  /** Null when nothing is missing. */
  readonly incomplete: Incomplete | null;
}

export type CompletionType =
  | "name"
  | "function"
  | "class"
  | "module"
  | "keyword"
  | "attribute"
  | "key"
  | "parameter"
  | "path";

export interface Completion {
  /** Takes the place of the code from `start` to `end`. */
  readonly text: string;
  readonly type: CompletionType;
}

export interface Completions {
  /** 500 at most. */
  readonly matches: readonly Completion[];
  readonly total: number;
  readonly start: number;
  readonly end: number;
  readonly incomplete: Incomplete | null;
}

export interface Signature {
  /** The source of what is called. */
  readonly name: string;
  readonly signature: string;
  readonly documentation: string;
  /** Which parameter the argument at the cursor is for, from 0; null when none, or when it is not known. */
  readonly parameter: number | null;
}

export interface NamespaceStatistics {
  readonly variableCount: number;
  /** The first 1,000. */
  readonly variables: readonly string[];
}

type Answer = NonNullable<StatusEvent["data"]>;

const MAX_VARIABLES = 10_000;
const MAX_STATISTICS_NAMES = 1_000;
const MAX_NAME = 256;
const MAX_PREVIEW = 1_000;
const MAX_COLUMNS = 200;
const MAX_DIMENSIONS = 32;
const MAX_ERROR = 500;
const MAX_MATCHES = 500;
const MAX_MATCH = 512;
const MAX_SIGNATURE = 2_000;
const MAX_DOCUMENTATION = 4_000;

const KINDS: ReadonlySet<unknown> = new Set(["variable", "function", "class", "module"]);
const COMPLETION_TYPES: ReadonlySet<unknown> = new Set(
  "name function class module keyword attribute key parameter path".split(" "),
);
const INCOMPLETE: ReadonlySet<unknown> = new Set(["timeout", "crashed", "no-process"]);
const PARTS = ["facts", "preview", "repr", "str"] as const;

/** Each parser gives undefined for an answer that no worker of ours gives. */
export function parseVariableList({ variables, total }: Answer): VariableList | undefined {
  const list = toList(variables, MAX_VARIABLES, (entry) => parseVariable(entry, MAX_NAME));
  if (list === undefined || !isCount(total) || total < list.length) return undefined;
  return { variables: list, total };
}

export function parseStatistics({ variableCount, variables }: Answer): NamespaceStatistics | undefined {
  const names = toList(variables, MAX_STATISTICS_NAMES, (name) => toText(name, MAX_NAME));
  if (names === undefined || !isCount(variableCount) || variableCount < names.length) return undefined;
  return { variableCount, variables: names };
}

/** Null: there is no such name. */
export function parseInspection(
  data: Answer,
  name: string,
  maxCharacters: number,
): InspectedVariable | null | undefined {
  if (data["found"] === false) return null;
  const plain = parseVariable({ ...data, name }, name.length);
  if (plain === undefined) return undefined;
  const columns = toList(data["columns"], MAX_COLUMNS, parseColumn);
  const repr = parseText(data["repr"], maxCharacters);
  const str = parseText(data["str"], maxCharacters);
  return {
    ...plain,
    ...(isCount(data["sizeBytes"]) && { sizeBytes: data["sizeBytes"] }),
    ...(columns !== undefined && { columns }),
    ...(isCount(data["columnCount"]) && { columnCount: data["columnCount"] }),
    ...(repr !== undefined && { repr }),
    ...(str !== undefined && { str }),
    errors: parseErrors(data["errors"]),
    incomplete: parseIncomplete(data),
  };
}

/** `start` and `end` are counted as the worker counts, in code points. */
export function parseCompletions(data: Answer, cursor: number): Completions | undefined {
  const incomplete = parseIncomplete(data);
  const { matches = [], total = 0, start = cursor, end = cursor } = data;
  const list = toList(matches, MAX_MATCHES, parseCompletion);
  if (list === undefined || !isCount(total) || total < list.length) return undefined;
  if (!isCount(start) || end !== cursor || start > cursor) return undefined;
  return { matches: list, total, start, end: cursor, incomplete };
}

/** Null: no call that is known is open at the cursor, or looking at it took too long. */
export function parseSignature({ signature: found = null }: Answer): Signature | null | undefined {
  if (found === null) return null;
  if (!isRecord(found)) return undefined;
  const name = toText(found["name"], MAX_MATCH);
  const signature = toText(found["signature"], MAX_SIGNATURE);
  const documentation = toText(found["documentation"], MAX_DOCUMENTATION);
  if (name === undefined || signature === undefined || documentation === undefined) return undefined;
  return { name, signature, documentation, parameter: isCount(found["parameter"]) ? found["parameter"] : null };
}

function parseVariable(entry: unknown, maxName: number): Variable | undefined {
  if (!isRecord(entry)) return undefined;
  const { kind, length } = entry;
  const name = toText(entry["name"], maxName);
  const type = toText(entry["type"], MAX_NAME);
  if (name === undefined || type === undefined || !KINDS.has(kind)) return undefined;
  const shape = toList(entry["shape"], MAX_DIMENSIONS, (size) => (isCount(size) ? size : undefined));
  const dtype = toText(entry["dtype"], MAX_NAME);
  const preview = toText(entry["preview"], MAX_PREVIEW);
  return {
    name,
    type,
    module: toText(entry["module"], MAX_NAME) ?? null,
    kind: kind as VariableKind,
    ...(isCount(length) && { length }),
    ...(shape !== undefined && { shape }),
    ...(dtype !== undefined && { dtype }),
    ...(preview !== undefined && { preview }),
  };
}

function parseColumn(entry: unknown): Column | undefined {
  if (!isRecord(entry)) return undefined;
  const name = toText(entry["name"], MAX_NAME);
  const dtype = toText(entry["dtype"], MAX_NAME);
  return name === undefined || dtype === undefined ? undefined : { name, dtype };
}

function parseText(entry: unknown, maxCharacters: number): VariableText | undefined {
  if (!isRecord(entry)) return undefined;
  const text = toText(entry["text"], maxCharacters);
  if (text === undefined) return undefined;
  const { total, ofFirst } = entry;
  return { text, total: isCount(total) ? total : null, ...(isCount(ofFirst) && { ofFirst }) };
}

function parseErrors(entry: unknown): InspectedVariable["errors"] {
  if (!isRecord(entry)) return {};
  const texts = PARTS.map((part) => [part, toText(entry[part], MAX_ERROR)] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined));
}

function parseIncomplete({ incomplete }: Answer): Incomplete | null {
  return INCOMPLETE.has(incomplete) ? (incomplete as Incomplete) : null;
}

function parseCompletion(entry: unknown): Completion | undefined {
  if (!isRecord(entry) || !COMPLETION_TYPES.has(entry["type"])) return undefined;
  const text = toText(entry["text"], MAX_MATCH);
  return text === undefined ? undefined : { text, type: entry["type"] as CompletionType };
}

/** Undefined unless it is an array of at most so many, each of which the parser takes. */
function toList<T>(value: unknown, most: number, parse: (entry: unknown) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value) || value.length > most) return undefined;
  const parsed = value.map((entry) => parse(entry));
  return parsed.every((entry) => entry !== undefined) ? parsed : undefined;
}

/** Characters are Python's: each is one or two code units here. */
function toText(value: unknown, maxCharacters: number): string | undefined {
  return typeof value === "string" && value.length <= 2 * maxCharacters ? value : undefined;
}
