// What a host needs to run as an ordinary user: copies of this package and of Node that every user can read.

import { execFile } from "node:child_process";
import { chmodSync, constants, cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

export interface ForAll {
  readonly folder: string;
  readonly node: string;
  /** An empty data folder. */
  readonly data: string;
  /** Copies a file; returns the path of the copy. */
  add(file: string): string;
  remove(): void;
}

export async function copyForAll(): Promise<ForAll> {
  const folder = mkdtempSync(join(tmpdir(), "hostile-user-"));
  const data = join(folder, "data");
  mkdirSync(data);
  cpSync(join(import.meta.dirname, "../../dist"), join(folder, "dist"), { recursive: true });
  await new Promise((resolve) => execFile("chmod", ["-R", "a+rX", folder], resolve));
  for (const writable of [folder, data]) chmodSync(writable, 0o1777); // as /tmp: compiled code is kept only where nobody can replace it
  return {
    folder,
    data,
    node: nodeForAll(folder),
    add(file) {
      const copy = join(folder, basename(file));
      cpSync(file, copy);
      chmodSync(copy, 0o644);
      return copy;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** This Node, or a copy of it where other users cannot read its folder. */
export function nodeForAll(folder: string): string {
  const parents = process.execPath.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/") || "/");
  if (parents.every((path) => (statSync(path).mode & 0o001) !== 0)) return process.execPath;
  const copy = join(folder, "node");
  cpSync(process.execPath, copy, { mode: constants.COPYFILE_FICLONE });
  chmodSync(copy, 0o755);
  return copy;
}
