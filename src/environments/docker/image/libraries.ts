// Adds the shared libraries that the programs of a tree need, and the libraries of those, until nothing is missing.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readElf, type ElfNeeds } from "./elf.ts";
import type { FileTree, ImageEntry } from "./file-tree.ts";

const TRIPLETS: Readonly<Record<string, string>> = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };
/** glibc opens these by name when a thread is cancelled or a name is looked up. */
const OPENED_LATER = ["libgcc_s.so.1", "libnss_files.so.2", "libnss_dns.so.2"];
const CACHE = "/etc/ld.so.cache";
const SETTINGS = "/etc/ld.so.conf.d";

/** `interpreter`: its folders serve its extension modules too. */
export function addLibraries(tree: FileTree, interpreter: string): void {
  const standard = standardFolders();
  const configured = configuredFolders();
  const shared = foldersOf(readElf(interpreter), interpreter);
  const seen = new Set<string>();
  const addFrom = (folder: string, name: string): boolean => {
    const path = join(folder, name);
    return isLibrary(path) && tree.add(path) !== undefined;
  };
  const addLibrary = (name: string, own: readonly string[]): void => {
    // Where a library is loaded through a link, `$ORIGIN` is the folder of the link, and not `own`: the loader may look elsewhere.
    for (const folder of own) addFrom(folder, name);
    const found = [...shared, ...standard, ...configured].find((folder) => addFrom(folder, name));
    // The loader knows only the standard folders by itself; the others it reads from its cache.
    if (found !== undefined && configured.includes(found)) tree.add(CACHE);
  };
  for (const name of OPENED_LATER) addLibrary(name, []);
  for (let found = unread(tree, seen); found.length > 0; found = unread(tree, seen)) {
    for (const path of found) {
      const needs = readElf(path);
      if (needs?.loader !== undefined) tree.add(needs.loader);
      for (const name of needs?.libraries ?? []) addLibrary(name, foldersOf(needs, path));
    }
  }
}

/** The files that may be programs or libraries and were not seen yet. */
function unread(tree: FileTree, seen: Set<string>): string[] {
  const paths = tree.entries().flatMap((entry) => (isCandidate(entry) ? [entry.source] : []));
  const found = paths.filter((path) => !seen.has(path));
  for (const path of found) seen.add(path);
  return found;
}

function isCandidate(entry: ImageEntry): entry is ImageEntry & { readonly source: string } {
  if (entry.kind !== "file" || typeof entry.source !== "string") return false;
  return (entry.mode & 0o111) !== 0 || /\.so(?:\.|$)/.test(entry.path);
}

function foldersOf(needs: ElfNeeds | undefined, path: string): string[] {
  const origin = dirname(path);
  return (needs?.folders ?? [])
    .map((folder) => folder.replaceAll(/\$\{ORIGIN\}|\$ORIGIN/g, origin))
    .filter((folder) => folder.startsWith("/"));
}

/** A linker script has the name of a library too. */
function isLibrary(path: string): boolean {
  try {
    return readElf(path) !== undefined;
  } catch {
    return false;
  }
}

function standardFolders(): string[] {
  const triplet = TRIPLETS[process.arch];
  const multiarch = triplet === undefined ? [] : [`/lib/${triplet}`, `/usr/lib/${triplet}`];
  return [...multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
}

/** Those of the machine's settings besides the standard ones. */
function configuredFolders(): string[] {
  const standard = standardFolders();
  try {
    return readdirSync(SETTINGS)
      .filter((name) => name.endsWith(".conf"))
      .toSorted()
      .flatMap((name) => readFileSync(join(SETTINGS, name), "utf8").split("\n"))
      .map((line) => line.replace(/#.*/, "").trim())
      .filter((line) => line.startsWith("/") && !standard.includes(line));
  } catch {
    return []; // not every system has such settings
  }
}
