// The names by which a model sees the files of a context: short and unique.
//
// Files of one folder are named from it, and those of several places from the folder that they have in common.

import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { FoundFile } from "./walk-folder.ts";

/** What one name after --context stands for. */
export interface FileGroup {
  readonly kind: "file" | "folder" | "glob" | "input";
  /** From which its files are named. */
  readonly folder: string;
  /** The folder, or the file itself, without links. */
  readonly real: string;
  readonly files: readonly FoundFile[];
}

export interface NamedFiles {
  readonly files: readonly FoundFile[];
  /** The name of the only folder. Absent: there are several, or single files. */
  readonly folder?: string;
}

const INPUT = "stdin";

/** A file that is named twice counts once. */
export function nameFiles(groups: readonly FileGroup[]): NamedFiles {
  const top = commonFolder(groups);
  const found = new Map<string, FoundFile>();
  const names = new Set<string>();
  for (const { kind, folder, real, files } of groups) {
    if (kind === "input") continue;
    const before = relative(top, resolve(folder));
    for (const file of files) {
      const one = kind === "file" ? real : join(real, file.name);
      if (found.has(one)) continue;
      const name = join(before, file.name);
      found.set(one, { ...file, name });
      names.add(name);
    }
  }
  const named = groups.flatMap(({ kind, files }) => (kind === "input" ? files : []));
  const input = named.map((file) => ({ ...file, name: freeName(names) }));
  const isFolder = groups.length === 1 && groups.every(({ kind }) => kind === "folder" || kind === "glob");
  return { files: [...found.values(), ...input], ...(isFolder && basename(top) !== "" && { folder: basename(top) }) };
}

/** A single folder or glob begins with itself; beside others a folder keeps its name. */
function commonFolder(groups: readonly FileGroup[]): string {
  const tops = groups.flatMap(({ kind, folder }) => {
    if (kind === "input") return [];
    const path = resolve(folder);
    return [kind === "folder" && groups.length > 1 ? dirname(path) : path];
  });
  const [first = [], ...others] = tops.map((path) => path.split(sep));
  const differs = first.findIndex((part, index) => others.some((other) => other[index] !== part));
  return first.slice(0, differs === -1 ? first.length : differs).join(sep) || sep;
}

/** For standard input, which may be beside a file of its name. */
function freeName(taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? INPUT : `${INPUT}-${number}`;
    if (!taken.has(name)) return name;
  }
}
