// What was typed in consoles of this user: one JSON string a line, appended, so that two consoles at once lose nothing.
//
// The file is the user's alone (mode 0600). When it is read and has grown far past the bound, its older half is dropped.

import { appendFileSync, closeSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MAX_ENTRIES = 10_000;
const MAX_ENTRY = 100_000;
const MAX_FILE = 32 * 1024 * 1024;

export class HistoryFile {
  readonly entries: string[] = [];
  readonly #path: string | undefined;

  /** Without a folder, and where the file cannot be used, entries live as long as the console. */
  constructor(folder: string | undefined) {
    this.#path = folder === undefined ? undefined : join(folder, "history.jsonl");
    this.#read();
  }

  /** The same entry twice in a row is one. What begins with a space is nobody's business. */
  add(text: string): void {
    if (text.trim() === "" || text.startsWith(" ") || text.length > MAX_ENTRY || text === this.entries.at(-1)) return;
    this.entries.push(text);
    if (this.entries.length > MAX_ENTRIES) this.entries.shift();
    if (this.#path === undefined) return;
    try {
      // One write of one line at the end of the file: another console's line is before or after it, never inside.
      appendFileSync(this.#path, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    } catch {
      // a full disk takes nobody's console away
    }
  }

  #read(): void {
    if (this.#path === undefined) return;
    try {
      closeSync(openSync(this.#path, "a", 0o600));
      const text = readFileSync(this.#path, "utf8");
      const found = text.slice(-MAX_FILE).split("\n").flatMap(parseEntry);
      for (const entry of found.slice(-MAX_ENTRIES)) this.entries.push(entry);
      if (found.length > MAX_ENTRIES * 2 || text.length > MAX_FILE) this.#shorten(this.#path);
    } catch {
      // not readable: this console begins with no history
    }
  }

  #shorten(path: string): void {
    const own = `${path}.${process.pid}`;
    writeFileSync(own, this.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: 0o600 });
    renameSync(own, path);
  }
}

/** A line that is none is left out. */
function parseEntry(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "string" && value.length <= MAX_ENTRY ? [value] : [];
  } catch {
    return [];
  }
}
