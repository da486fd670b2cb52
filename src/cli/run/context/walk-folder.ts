// The text files in a folder and its subfolders, sorted. Skipped entries are counted by reason.

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { mapAhead } from "../../../util/async/map-ahead.ts";
import { isDependencyFolder, isSecretFile, isSecretFolder } from "../../../util/secret-files.ts";
import { formatCount } from "../../../util/text/format.ts";
import { UsageError } from "../../options/usage-error.ts";
import { Classifier } from "./classify-file.ts";
import type { Skipped } from "./skipped.ts";

export interface FoundFile {
  /** From the folder. */
  readonly name: string;
  readonly path: string;
  readonly size: number;
  /** Absent: it has not been kept. */
  readonly content?: Buffer;
}

/** A file, or the reason why an entry is skipped. */
type Entry = { readonly name: string } | { readonly skipped: string };

export const MAX_FILES = 100_000;
const MAX_ENTRIES = 1_000_000;
/** Files that are looked at at once. */
const AT_ONCE = 32;

export async function walkFolder(
  folder: string,
  skipped: Skipped,
  isWanted: (relative: string) => boolean = () => true,
): Promise<FoundFile[]> {
  const names: string[] = [];
  for (const entry of await new Walk(folder, isWanted).list("")) {
    if ("skipped" in entry) skipped.count(entry.skipped);
    else if (names.push(entry.name) > MAX_FILES) throw tooMany(folder, formatCount(MAX_FILES, "file"));
  }
  const classifier = new Classifier();
  const classified = mapAhead(names, (name) => classifier.classify(join(folder, name)), { count: AT_ONCE });
  const found: FoundFile[] = [];
  let at = 0;
  for await (const { kind, ...read } of classified) {
    const name = names[at++] ?? "";
    const path = join(folder, name);
    if (kind === "text") found.push({ name, path, ...read });
    else if (kind !== "unreadable") skipped.countNotText(path, kind);
    else skipped.count(name.includes("\uFFFD") ? "files whose names are not UTF-8" : "files that may not be read");
  }
  return found;
}

/** The system lists as many folders at once as it has threads for that. */
class Walk {
  readonly #folder: string;
  readonly #isWanted: (relative: string) => boolean;
  #entries = 0;

  constructor(folder: string, isWanted: (relative: string) => boolean) {
    this.#folder = folder;
    this.#isWanted = isWanted;
  }

  async list(under: string): Promise<readonly Entry[]> {
    const listed = await readdir(join(this.#folder, under), { withFileTypes: true }).catch(() => null);
    if (listed === null) return [{ skipped: "folders that may not be read" }];
    this.#entries += listed.length;
    if (this.#entries > MAX_ENTRIES) throw tooMany(this.#folder, `${formatCount(MAX_ENTRIES)} entries`);
    const sorted = listed.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const entries = sorted.map((entry) => this.#toEntries(entry, under === "" ? entry.name : `${under}/${entry.name}`));
    return (await Promise.all(entries)).flat();
  }

  async #toEntries(entry: Dirent, name: string): Promise<readonly Entry[]> {
    if (entry.isDirectory()) {
      if (isDependencyFolder(entry.name)) return [{ skipped: `${entry.name} folders` }];
      if (isSecretFolder(entry.name)) return [{ skipped: "folders that hold secrets by their names" }];
      return this.list(name);
    }
    if (!this.#isWanted(name)) return [];
    if (entry.isSymbolicLink()) return [{ skipped: "links" }];
    if (!entry.isFile()) return [{ skipped: "things that are not files" }];
    return [isSecretFile(entry.name) ? { skipped: "files that hold secrets by their names" } : { name }];
  }
}

function tooMany(folder: string, what: string): UsageError {
  return new UsageError(`cannot take '${folder}' as context: it has more than ${what}. Name a part of it`);
}
