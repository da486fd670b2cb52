// What the editors of JSON and TOML have in common: one named entry in a table of servers.

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
  /** Added if missing: a value that the user changed stays. */
  readonly defaults: Entry;
}

/**
 * Changes one entry in the text of a file and preserves comments, order and white space of everything else. Every method
 * throws a `Refusal` if the text does not parse or has a form that it cannot edit. A byte order mark is not part of the
 * text.
 */
export interface Editor {
  /** Undefined: there is no such entry. */
  read(text: string, entryPath: EntryPath): unknown;
  /** An existing entry keeps its other keys. Returns the same text if nothing changes. */
  put(text: string, entryPath: EntryPath, wanted: WantedEntry): string;
  /** Returns the same text if there is no such entry. */
  remove(text: string, entryPath: EntryPath): string;
  /** A file with only this entry. */
  snippet(entryPath: EntryPath, wanted: WantedEntry): string;
}

/** The keys to set so that the entry is as wanted, in order. */
export function missing(entry: Entry, { command, defaults }: WantedEntry): [key: string, value: unknown][] {
  return [
    ...Object.entries(command).filter(([key, value]) => !isDeepStrictEqual(entry[key], value)),
    ...Object.entries(defaults).filter(([key]) => !Object.hasOwn(entry, key)),
  ];
}

export function isTable(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Throws if an edit changed anything but the entry. An empty table of servers equals a missing one. */
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
