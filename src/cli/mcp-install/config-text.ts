// What the formats of configuration files have in common: one entry, under a name, in a table of servers.

import { isDeepStrictEqual } from "node:util";
import { Refusal } from "./refusal.ts";

export interface EntryPath {
  /** The key of the table of servers, such as `mcpServers`. */
  readonly servers: string;
  /** The key of the entry in it. */
  readonly name: string;
}

export type Entry = Readonly<Record<string, unknown>>;

export interface WantedEntry {
  /** What starts the server. Replaces what is there. */
  readonly command: Entry;
  /** Put in where they are missing: whoever changed one by hand keeps it. */
  readonly defaults: Entry;
}

/**
 * Changes the text of a file and nothing in it but one entry: comments, order and white space of all else stay. Every method
 * throws a `Refusal` where the text does not parse or has a form that cannot be changed that way. A byte order mark is not
 * part of the text.
 */
export interface Editor {
  /** Undefined where there is no such entry. */
  read(text: string, entryPath: EntryPath): unknown;
  /** An entry that is there keeps what is not set here. The same text where nothing would change. */
  put(text: string, entryPath: EntryPath, wanted: WantedEntry): string;
  /** The same text where there is no such entry. */
  remove(text: string, entryPath: EntryPath): string;
  /** The entry as the whole of a file. */
  snippet(entryPath: EntryPath, wanted: WantedEntry): string;
}

/** What has to be set in an entry for it to be as wanted, in order. */
export function missing(entry: Entry, { command, defaults }: WantedEntry): [key: string, value: unknown][] {
  return [
    ...Object.entries(command).filter(([key, value]) => !isDeepStrictEqual(entry[key], value)),
    ...Object.entries(defaults).filter(([key]) => !Object.hasOwn(entry, key)),
  ];
}

export function isTable(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Throws where an edit has touched anything but the entry. An empty table of servers is as good as none. */
export function checkOthersKept(before: Entry, after: Entry, entryPath: EntryPath): void {
  if (!isDeepStrictEqual(without(before, entryPath), without(after, entryPath)))
    throw new Refusal(`'${entryPath.name}' cannot be changed without changing something else`);
}

function without(document: Entry, { servers, name }: EntryPath): Entry {
  const { [servers]: table, ...others } = document;
  if (!isTable(table)) return { ...document };
  const { [name]: _, ...rest } = table;
  return Object.keys(rest).length === 0 ? others : { ...others, [servers]: rest };
}

export function toLineEnd(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? "\n";
}

/** Line and column, from 1. */
export function describeOffset(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `line ${before.split("\n").length}, column ${offset - before.lastIndexOf("\n")}`;
}
