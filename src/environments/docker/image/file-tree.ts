// Files of this machine that go into an image, at the places that they have here.
//
// A path is added with everything on the way to it: folders, links, and what links lead to. What not every user of this machine may read stays out,
// and so does everything below folders with personal, secret or temporary contents, so no secret gets in by a link or a careless list.

import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { TarEntry } from "./tar.ts";

const MAX_LINKS = 40;
/** Folders that stay out, except for those that the tree's options allow. */
const EXCLUDED = [
  "boot",
  "dev",
  "home",
  "lost+found",
  "media",
  "mnt",
  "proc",
  "root",
  "run",
  "srv",
  "sys",
  "tmp",
  "var",
];
/** All that may come from /etc: the beginnings of paths. */
const ALLOWED_IN_ETC = [
  "alternatives/",
  "ssl/certs/",
  "python3",
  "localtime",
  "ld.so.cache",
  "mime.types",
  "matplotlibrc",
];
const FOLDER_MODE = 0o755;

/** `source`: the file with the bytes; or the bytes themselves. */
export type ImageEntry = TarEntry & { readonly source?: string | Buffer };

/** The sum of what was added, for the error of whoever sets the limits. */
export class TreeTooLarge extends Error {}

export interface TreeOptions {
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** Folders that get in although they are below an excluded one, such as that of an interpreter in a home folder. */
  readonly allow: readonly string[];
}

export class FileTree {
  readonly #entries = new Map<string, ImageEntry>();
  readonly #options: TreeOptions;
  #bytes = 0;

  constructor(options: TreeOptions) {
    this.#options = options;
  }

  /** Sorted, so that folders come before what is in them. */
  entries(): ImageEntry[] {
    return [...this.#entries.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a file, or a folder without its contents. Its real path; undefined if it does not exist or must stay out. */
  add(path: string): string | undefined {
    const visited: ImageEntry[] = [];
    const real = this.#walk(path, visited);
    if (real !== undefined) for (const entry of visited) this.#put(entry);
    return real;
  }

  /** Adds a folder and what is in it. Links that lead out of it bring what they lead to, except for contents of folders. */
  addAll(path: string): void {
    const real = this.add(path);
    if (real === undefined) return;
    for (const name of namesIn(real)) {
      const child = join(real, name);
      if (statusOf(child)?.isDirectory()) this.addAll(child);
      else this.add(child);
    }
  }

  /** Adds a file that this machine does not have. */
  addText(path: string, text: string): void {
    const source = Buffer.from(text);
    this.addFolder(dirname(path), FOLDER_MODE);
    this.#put({ path: inside(path), kind: "file", mode: 0o644, mtime: 0, size: source.length, source });
  }

  /** Adds an empty folder that this machine may not have. */
  addFolder(path: string, mode: number): void {
    if (path === "/") return;
    this.addFolder(dirname(path), FOLDER_MODE);
    this.#put({ path: inside(path), kind: "folder", mode, mtime: 0 });
  }

  #put(entry: ImageEntry): void {
    if (this.#entries.has(entry.path)) return;
    this.#entries.set(entry.path, entry);
    if (entry.kind === "file") this.#bytes += entry.size;
    const { maxBytes, maxEntries } = this.#options;
    if (this.#bytes > maxBytes || this.#entries.size > maxEntries) throw new TreeTooLarge(entry.path);
  }

  /** Resolves links one by one, as the kernel does, and notes everything that it visits. */
  #walk(path: string, visited: ImageEntry[]): string | undefined {
    let names = namesOf(path);
    let current = "/";
    let links = 0;
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const next = name === ".." ? dirname(current) : join(current, name);
      if (next === "/" || name === "..") {
        current = next;
        continue;
      }
      const status = statusOf(next);
      if (status === undefined || !this.#mayVisit(next, status)) return undefined;
      visited.push(entryOf(next, status));
      if (!status.isSymbolicLink()) {
        current = next;
        continue;
      }
      if (++links > MAX_LINKS) return undefined;
      const target = readlinkSync(next);
      if (target.startsWith("/")) current = "/";
      names = [...namesOf(target), ...names];
    }
    return current;
  }

  #mayVisit(path: string, status: Stats): boolean {
    const isAllowed = this.#options.allow.some((folder) => isWithin(path, folder));
    // The folders above an allowed one are created anew, without anything else in them.
    const isAbove = status.isDirectory() && this.#options.allow.some((folder) => isWithin(folder, path));
    if (!isAllowed && !isAbove && isExcluded(path, status)) return false;
    if (status.isSymbolicLink()) return true;
    if (status.isDirectory()) return isAbove || (status.mode & 0o005) === 0o005;
    return status.isFile() && (status.mode & 0o004) !== 0;
  }
}

function isExcluded(path: string, status: Stats): boolean {
  const [top = "", ...rest] = namesOf(path);
  if (top !== "etc") return EXCLUDED.includes(top);
  const below = rest.join("/");
  if (status.isDirectory() && ALLOWED_IN_ETC.some((allowed) => below === "" || allowed.startsWith(`${below}/`)))
    return false;
  return !ALLOWED_IN_ETC.some((allowed) => below.startsWith(allowed));
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function entryOf(path: string, status: Stats): ImageEntry {
  const base = { path: inside(path), mtime: Math.floor(status.mtimeMs / 1000) };
  if (status.isSymbolicLink()) return { ...base, kind: "link", mode: 0o777, target: readlinkSync(path) };
  // The times of folders tell when something else in them changed.
  if (status.isDirectory()) return { ...base, kind: "folder", mode: FOLDER_MODE, mtime: 0 };
  // No user gets more rights by starting a file.
  const mode = (status.mode & 0o111) === 0 ? 0o644 : 0o755;
  return { ...base, kind: "file", mode, size: status.size, source: path };
}

function inside(path: string): string {
  return path.slice(1);
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined; // missing, or in a folder that this user may not enter
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
