// The history of all consoles of this user: one JSON string per line. Lines are appended, so that concurrent consoles lose
// nothing.
//
// Only the user can read the file (mode 0600). If it has grown far past the limit when it is read, its older half is dropped.

import { appendFileSync, closeSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseJSON } from "../../util/parse-json.ts";

const MAX_ENTRIES = 10_000;
const MAX_ENTRY = 100_000;
const MAX_FILE = 32 * 1024 * 1024;

export class HistoryFile {
  readonly entries: string[] = [];
  #isKept = false;
  readonly #path: string | undefined;

  /** Without a folder, or if the file cannot be used, the history lasts as long as the console. */
  constructor(folder: string | undefined) {
    this.#path = folder === undefined ? undefined : join(folder, "history.jsonl");
    this.#read();
  }

  /** Whether it could be read, and can be appended to. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Ignores repetitions, and text that begins with a space. */
  add(text: string): void {
    if (text.trim() === "" || text.startsWith(" ") || text.length > MAX_ENTRY || text === this.entries.at(-1)) return;
    this.entries.push(text);
    if (this.entries.length > MAX_ENTRIES) this.entries.shift();
    if (this.#path === undefined) return;
    try {
      // A single write, so that the lines of two consoles do not mix.
      appendFileSync(this.#path, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    } catch {
      // such as a full disk: the console continues
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
      this.#isKept = true;
    } catch {
      // not readable: start with an empty history
    }
  }

  #shorten(path: string): void {
    const own = `${path}.${process.pid}`;
    writeFileSync(own, this.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: 0o600 });
    renameSync(own, path);
  }
}

/** Empty if the line is damaged. */
function parseEntry(line: string): string[] {
  const value = parseJSON(line);
  return typeof value === "string" && value.length <= MAX_ENTRY ? [value] : [];
}
