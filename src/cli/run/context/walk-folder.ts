// The text files in a folder and its subfolders, sorted. Skipped entries are counted by reason.

import type { Dirent } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDependencyFolder, isSecretFile, isSecretFolder } from "../../../util/secret-files.ts";
import { UsageError } from "../../options/usage-error.ts";

export interface FoundFile {
  /** The name that the model sees. */
  readonly name: string;
  readonly path: string;
}

/** How many entries were skipped, by reason. */
export type Skipped = Map<string, number>;

export const MAX_FILES = 10_000;

const MAX_ENTRIES = 200_000;
const LOOK_BYTES = 64 * 1024;

export async function walkFolder(
  folder: string,
  skipped: Skipped,
  isWanted: (relative: string) => boolean = () => true,
): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  let entries = 0;
  const walk = async (under: string): Promise<void> => {
    const listed = await readdir(join(folder, under), { withFileTypes: true }).catch(() => null);
    if (listed === null) return count(skipped, "folders that may not be read");
    for (const entry of listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      entries += 1;
      if (entries > MAX_ENTRIES) throw tooMany(folder, `${MAX_ENTRIES} entries`);
      const relative = under === "" ? entry.name : `${under}/${entry.name}`;
      if (entry.isDirectory()) {
        if (isDependencyFolder(entry.name)) count(skipped, `${entry.name} folders`);
        else if (isSecretFolder(entry.name)) count(skipped, "folders that hold secrets by their names");
        else await walk(relative);
        continue;
      }
      if (!isWanted(relative)) continue;
      const path = join(folder, relative);
      const reason = await reasonToSkip(entry, path);
      if (reason !== undefined) count(skipped, reason);
      else if (found.push({ name: path, path }) > MAX_FILES) throw tooMany(folder, `${MAX_FILES} files`);
    }
  };
  await walk("");
  return found;
}

async function reasonToSkip(entry: Dirent, path: string): Promise<string | undefined> {
  if (entry.isSymbolicLink()) return "links";
  if (!entry.isFile()) return "things that are not files";
  if (isSecretFile(entry.name)) return "files that hold secrets by their names";
  const kind = await classifyFile(path);
  if (kind === "text") return undefined;
  return kind === "binary" ? "files that are not UTF-8 text" : "files that may not be read";
}

/** Judged by its first bytes. */
export async function classifyFile(path: string): Promise<"text" | "binary" | "unreadable"> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOOK_BYTES), 0, LOOK_BYTES, 0);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.includes(0)) return "binary";
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: bytesRead === LOOK_BYTES }); // a full buffer may end inside a character
    return "text";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "binary" : "unreadable";
  }
}

function count(skipped: Skipped, reason: string): void {
  skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
}

function tooMany(folder: string, what: string): UsageError {
  return new UsageError(`cannot take '${folder}' as context: it has more than ${what}. Name a part of it`);
}
