// Resolves paths below a folder without leaving it, while code of the session renames and links files there.
//
// Each step opens one folder in an open one. No link is followed: a path that has one is refused. On Linux an open folder is addressed by its
// descriptor, so that renaming one meanwhile changes nothing. Elsewhere there is a moment in which a folder can be replaced.

import { closeSync, constants, lstatSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const MAX_DEPTH = 256;

/** The path leads out of the folder, or contains a symbolic link. */
export class OutsideFolder extends Error {}

/** A name in an open folder. `path` is relative to the root, and empty for the root itself. */
export interface InnerPath {
  readonly folder: OpenFolder;
  /** `.` for the root. */
  readonly name: string;
  /** How to address it. Not for APIs that follow links. */
  readonly at: string;
  readonly path: string;
  /** Must be called once. */
  close(): void;
}

/** `make`: creates missing parent folders. */
export function openInner(root: string, path: string, { make = false } = {}): InnerPath {
  const parts = normalise(path);
  const opened: OpenFolder[] = [];
  const close = (): void => {
    for (const { fd } of opened.splice(0)) closeSync(fd);
  };
  try {
    const name = parts.pop();
    let folder = openFolder(root);
    opened.push(folder);
    for (const part of parts) {
      folder = enter(folder, part, make);
      opened.push(folder);
    }
    const normal = [...parts, ...(name === undefined ? [] : [name])].join("/");
    return { folder, name: name ?? ".", at: inside(folder, name ?? "."), path: normal, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Must be closed with `closeSync`. */
export interface OpenFolder {
  readonly fd: number;
  readonly path: string;
}

/** Fails for a link. */
export function openFolder(path: string): OpenFolder {
  return { fd: openSync(path, FOLDER), path };
}

function enter(folder: OpenFolder, name: string, make: boolean): OpenFolder {
  const path = inside(folder, name);
  try {
    return openFolder(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new OutsideFolder("it contains a symbolic link");
    if (code !== "ENOENT" || !make) throw error;
    mkdirSync(path, 0o755);
    return openFolder(path);
  }
}

/** How to address a name in it. */
export function inside(folder: OpenFolder, name: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${folder.fd}/${name}` : join(folder.path, name);
}

function normalise(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) throw new OutsideFolder("it leads out of the working directory");
  }
  if (parts.length > MAX_DEPTH) throw new OutsideFolder("it is too deep");
  return parts;
}
