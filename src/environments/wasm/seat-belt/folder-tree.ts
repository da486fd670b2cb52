// All that is in a folder: to list it, to measure it, and to remove it, while code of the session renames files there.
//
// Each folder is opened in an open one, as in `inner-path.ts`, so that no link is followed that took the place of a folder. The host goes on
// with other work meanwhile, however many files there are.

import { randomBytes } from "node:crypto";
import { closeSync, type BigIntStats } from "node:fs";
import { chmod, lstat, opendir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { inside, openFolder, type OpenFolder } from "./inner-path.ts";

const MAX_COUNTED = 100_000;
/** Each level has a folder open. */
const MAX_DEPTH = 256;
/** A folder deeper than this is moved up before it is emptied. */
const DEEP = 64;

export interface TreeEntry {
  /** How to address it until the next one is asked for. */
  readonly at: string;
  /** Relative to where the walk began. */
  readonly path: string;
  readonly found: BigIntStats;
}

/** Up to `MAX_COUNTED` entries; those of a folder by name, each followed by what is in it. */
export async function* walk(folder: OpenFolder, depth = MAX_DEPTH): AsyncGenerator<TreeEntry> {
  let left = MAX_COUNTED;
  for await (const entry of walkBelow(folder, "", Math.min(depth, MAX_DEPTH))) {
    yield entry;
    if ((left -= 1) === 0) return;
  }
}

/** The bytes of all files in a folder. */
export async function sizeOf(path: string): Promise<number> {
  let total = 0;
  const folder = openFolder(path);
  try {
    for await (const { found } of walk(folder)) total += Number(found.size);
  } finally {
    closeSync(folder.fd);
  }
  return total;
}

/** Removes a file, a link, or a folder with all that is in it. */
export async function removeTree(folder: OpenFolder, name: string): Promise<void> {
  const names = [name];
  const moveUp = async (path: string): Promise<void> => {
    const moved = `.rlm-${randomBytes(8).toString("hex")}.tmp`;
    await rename(path, inside(folder, moved));
    names.push(moved);
  };
  for (let next = names.pop(); next !== undefined; next = names.pop()) await remove(folder, next, 1, moveUp);
}

/** Removes a folder in which no process works any more, whatever its permissions are. Never rejects. */
export async function removeFolder(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 } as const;
  try {
    await rm(path, options).catch(async () => {
      await unlock(path);
      await rm(path, options);
    });
  } catch {
    // the next start tries it again
  }
}

async function* walkBelow(folder: OpenFolder, path: string, depth: number): AsyncGenerator<TreeEntry> {
  for (const name of (await namesIn(folder)).toSorted()) {
    const at = inside(folder, name);
    const below = path === "" ? name : `${path}/${name}`;
    const found = await lstat(at, { bigint: true }).catch(() => undefined);
    if (found === undefined) continue; // it was removed meanwhile
    yield { at, path: below, found };
    const inner = depth > 1 && found.isDirectory() ? tryOpen(at) : undefined;
    if (inner === undefined) continue;
    try {
      yield* walkBelow(inner, below, depth - 1);
    } finally {
      closeSync(inner.fd);
    }
  }
}

async function remove(
  folder: OpenFolder,
  name: string,
  depth: number,
  moveUp: (path: string) => Promise<void>,
): Promise<void> {
  const at = inside(folder, name);
  if (!(await lstat(at)).isDirectory()) return unlink(at);
  const inner = openFolder(at);
  try {
    let names: readonly string[];
    do {
      names = await namesIn(inner);
      for (const each of names) {
        if (depth < DEEP) await remove(inner, each, depth + 1, moveUp);
        else await moveUp(inside(inner, each));
      }
    } while (names.length === MAX_COUNTED);
  } finally {
    closeSync(inner.fd);
  }
  await rmdir(at);
}

/** Up to `MAX_COUNTED` of them. */
async function namesIn(folder: OpenFolder): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(inside(folder, "."), { bufferSize: 1024 })) {
    if (names.push(name) === MAX_COUNTED) break;
  }
  return names;
}

function tryOpen(path: string): OpenFolder | undefined {
  try {
    return openFolder(path);
  } catch {
    return undefined; // it was replaced, or may not be read
  }
}

/** Lets the user of the host list and change every folder. */
async function unlock(path: string): Promise<void> {
  await chmod(path, 0o700);
  for await (const entry of await opendir(path)) {
    if (entry.isDirectory()) await unlock(`${path}/${entry.name}`);
  }
}
