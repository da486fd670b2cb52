// Edits one entry of a TOML file: the table `[servers.name]` and its subtables.
//
// Only the statements of that table are changed. The result is parsed and compared with the original, so that an unknown
// form is refused and never damaged.

import { parse, stringify, TomlError } from "smol-toml";
import {
  checkOthersKept,
  isTable,
  missing,
  toLineEnd,
  type Editor,
  type Entry,
  type EntryPath,
  type WantedEntry,
} from "./config-text.ts";
import { Refusal } from "./refusal.ts";
import { toStatements, type TOMLHeader, type TOMLPair, type TOMLStatement } from "../../util/toml/statements.ts";

export const TOML: Editor = {
  read(text, entryPath) {
    return entryIn(parseTOML(text), entryPath);
  },

  put(text, entryPath, wanted) {
    const before = parseTOML(text);
    const entry = entryIn(before, entryPath);
    const changed =
      entry === undefined ? append(text, snippet(entryPath, wanted)) : update(text, entryPath, entry, wanted);
    return checked(changed, before, entryPath, wanted);
  },

  remove(text, entryPath) {
    const before = parseTOML(text);
    if (entryIn(before, entryPath) === undefined) return text;
    const blocks = toBlocks(toStatements(text)).filter(({ header }) => isWithin(header.path, entryPath));
    const changed = blocks.reduceRight((rest, block) => removeBlock(rest, block), text);
    return checked(changed, before, entryPath, undefined);
  },

  snippet,
};

function snippet({ servers, name }: EntryPath, { command, defaults }: WantedEntry): string {
  return `${stringify({ [servers]: { [name]: { ...command, ...defaults } } }).trimEnd()}\n`;
}

function parseTOML(text: string): Entry {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new Refusal(`line ${error.line}, column ${error.column}: ${reason}`, { cause: error });
  }
}

function entryIn(document: Entry, { servers, name }: EntryPath): unknown {
  const table = document[servers];
  return isTable(table) && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Returns the text. Throws if it is not as wanted; undefined: the entry must be gone. */
function checked(text: string, before: Entry, entryPath: EntryPath, wanted: WantedEntry | undefined): string {
  let after: Entry;
  try {
    after = parseTOML(text);
    checkOthersKept(before, after, entryPath);
  } catch (error) {
    throw unknownForm(entryPath, wanted, error);
  }
  const entry = entryIn(after, entryPath);
  const isDone = wanted === undefined ? entry === undefined : isTable(entry) && missing(entry, wanted).length === 0;
  if (!isDone) throw unknownForm(entryPath, wanted);
  return text;
}

function unknownForm(entryPath: EntryPath, wanted: WantedEntry | undefined, cause?: unknown): Refusal {
  const header = `[${entryPath.servers}.${entryPath.name}]`;
  if (wanted === undefined)
    return new Refusal(`'${entryPath.name}' is not a table ${header}: take it out by hand`, { cause });
  const message = `'${entryPath.servers}' has a form that cannot be changed here: write the server as a table ${header}`;
  return new Refusal(message, { snippet: snippet(entryPath, wanted), cause });
}

interface Block {
  readonly header: TOMLHeader;
  readonly pairs: readonly TOMLPair[];
  /** After the line of the last pair. Later comments belong to the next table. */
  readonly end: number;
}

function toBlocks(statements: readonly TOMLStatement[]): readonly Block[] {
  return statements.flatMap((header, index) => {
    if (header.kind === "pair") return [];
    const later = statements.slice(index + 1);
    const next = later.findIndex(({ kind }) => kind !== "pair");
    const pairs = later.slice(0, next === -1 ? undefined : next).filter((statement) => statement.kind === "pair");
    return [{ header, pairs, end: pairs.at(-1)?.end ?? header.end }];
  });
}

function isWithin([first, second]: readonly string[], { servers, name }: EntryPath): boolean {
  return first === servers && second === name;
}

/** Replaces values from the end to the beginning, then appends missing keys. */
function update(text: string, entryPath: EntryPath, entry: unknown, wanted: WantedEntry): string {
  const block = toBlocks(toStatements(text)).find(
    ({ header: { kind, path } }) => kind === "table" && path.length === 2 && isWithin(path, entryPath),
  );
  if (!isTable(entry) || block === undefined) throw unknownForm(entryPath, wanted);
  const open = new Map(missing(entry, wanted));
  let body = text.slice(0, block.end);
  for (const { path, valueStart, valueEnd } of block.pairs.toReversed()) {
    const [, , key = "", ...deeper] = path;
    if (deeper.length > 0 || !open.has(key)) continue;
    body = body.slice(0, valueStart) + toValue(open.get(key)) + body.slice(valueEnd);
    open.delete(key);
  }
  const lineEnd = toLineEnd(text);
  if (open.size > 0 && !body.endsWith("\n")) body += lineEnd;
  const added = [...open].map(([key, value]) => `${key} = ${toValue(value)}${lineEnd}`);
  return `${body}${added.join("")}${text.slice(block.end)}`;
}

function toValue(value: unknown): string {
  return stringify({ value }).trimEnd().slice("value = ".length);
}

function append(text: string, block: string): string {
  const lineEnd = toLineEnd(text);
  const ended = text === "" || text.endsWith("\n") ? text : `${text}${lineEnd}`;
  return `${ended}${text.trim() === "" ? "" : lineEnd}${block.trimEnd().replaceAll("\n", lineEnd)}${lineEnd}`;
}

/** Also removes the empty line before the block, if another one or the end of the file follows. */
function removeBlock(text: string, { header, end }: Block): string {
  const start = text.lastIndexOf("\n", header.start - 1) + 1;
  const before = /(?<=\n|^)\r?\n$/.exec(text.slice(0, start));
  const isSeparated = end === text.length || /^[ \t]*\r?\n/.test(text.slice(end));
  return text.slice(0, before !== null && isSeparated ? before.index : start) + text.slice(end);
}
