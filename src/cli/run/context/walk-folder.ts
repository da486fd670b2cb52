// The text files in a folder and its subfolders, sorted. Skipped entries are counted by reason.

import type { Dirent } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDependencyFolder, isSecretFile, isSecretFolder } from "../../../util/secret-files.ts";
import { UsageError } from "../../options/usage-error.ts";
import type { NotText } from "./not-text.ts";
import type { Skipped } from "./skipped.ts";

export interface FoundFile {
  /** The name that the model sees. */
  readonly name: string;
  readonly path: string;
}

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
    if (listed === null) return skipped.count("folders that may not be read");
    for (const entry of listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      entries += 1;
      if (entries > MAX_ENTRIES) throw tooMany(folder, `${MAX_ENTRIES} entries`);
      const relative = under === "" ? entry.name : `${under}/${entry.name}`;
      if (entry.isDirectory()) {
        if (isDependencyFolder(entry.name)) skipped.count(`${entry.name} folders`);
        else if (isSecretFolder(entry.name)) skipped.count("folders that hold secrets by their names");
        else await walk(relative);
        continue;
      }
      if (!isWanted(relative)) continue;
      const path = join(folder, relative);
      if (await isSkipped(entry, path, skipped)) continue;
      if (found.push({ name: path, path }) > MAX_FILES) throw tooMany(folder, `${MAX_FILES} files`);
    }
  };
  await walk("");
  return found;
}

async function isSkipped(entry: Dirent, path: string, skipped: Skipped): Promise<boolean> {
  const kind = refusalOf(entry) ?? (await classifyFile(path));
  if (kind === "text") return false;
  if (kind === "unreadable") skipped.count("files that may not be read");
  else if (typeof kind === "object") skipped.count(kind.reason);
  else skipped.countNotText(path, kind);
  return true;
}

/** Without looking into it. */
function refusalOf(entry: Dirent): { readonly reason: string } | undefined {
  if (entry.isSymbolicLink()) return { reason: "links" };
  if (!entry.isFile()) return { reason: "things that are not files" };
  return isSecretFile(entry.name) ? { reason: "files that hold secrets by their names" } : undefined;
}

/** Judged by its first bytes. */
export async function classifyFile(path: string): Promise<"text" | "unreadable" | NotText> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOOK_BYTES), 0, LOOK_BYTES, 0);
    return classify(buffer.subarray(0, bytesRead));
  } catch {
    return "unreadable";
  }
}

function classify(bytes: Buffer): "text" | NotText {
  const mark = bytes.subarray(0, 2).toString("hex");
  if (mark === "fffe" || mark === "feff") return "utf-16";
  if (bytes.includes(0)) return "binary";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: bytes.length === LOOK_BYTES }); // a full buffer may end inside a character
    return "text";
  } catch {
    return bytes.some(isControl) ? "binary" : "other-encoding";
  }
}

/** Other than white space and escape. No text in an encoding of single bytes has them. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b;
}

function tooMany(folder: string, what: string): UsageError {
  return new UsageError(`cannot take '${folder}' as context: it has more than ${what}. Name a part of it`);
}
