// Removes a folder that a hostile process may change meanwhile: no link in it is followed, however fast folders are swapped for links.
// Every step names an entry of a folder that is held open. Linux only.

import { closeSync, constants, openSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";

/** Folders that are open at the same time. What is deeper is moved up first. */
const MAX_DEPTH = 32;
const MAX_ROUNDS = 1_000;

/** Never throws: what cannot be removed stays. */
export function removeFolder(path: string): void {
  try {
    const top = openFolder(Buffer.from(path));
    try {
      for (let round = 0; round < MAX_ROUNDS && empty(top, { top, round }) > 0; round += 1);
    } finally {
      closeSync(top);
    }
    rmdirSync(path);
  } catch {
    // It is gone, or another user's.
  }
}

interface Removal {
  readonly top: number;
  readonly round: number;
}

/** Returns how many folders were moved up. */
function empty(folder: number, { top, round }: Removal, depth = 0): number {
  let moved = 0;
  for (const name of readdirSync(inFolder(folder), { encoding: "buffer" })) {
    const path = inFolder(folder, name);
    try {
      if (unlink(path)) continue;
      if (depth >= MAX_DEPTH) {
        renameSync(path, inFolder(top, Buffer.from(`moved-${round}-${moved}`)));
        moved += 1;
        continue;
      }
      const inner = openFolder(path);
      try {
        moved += empty(inner, { top, round }, depth + 1);
      } finally {
        closeSync(inner);
      }
      rmdirSync(path);
    } catch {
      // Another user's, or it was moved or replaced meanwhile.
    }
  }
  return moved;
}

/** False: it is a folder. */
function unlink(path: Buffer): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EISDIR" || code === "EPERM") return false;
    throw error;
  }
}

function openFolder(path: Buffer): number {
  return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

function inFolder(folder: number, name?: Buffer): Buffer {
  const path = Buffer.from(`/proc/self/fd/${folder}/`);
  return name === undefined ? path : Buffer.concat([path, name]);
}
