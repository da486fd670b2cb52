// Whether an image is whole: it ends with the SHA-256 of what precedes it (wasm/image.cjs).
//
// A disk that was full, or a copy that was cut short, leaves a file that no session starts from. Hashing it takes a tenth of a second, so
// the file that was checked is remembered, and checked again when it has changed.

import { createHash } from "node:crypto";
import { createReadStream, readFileSync, writeFileSync } from "node:fs";
import { open, stat } from "node:fs/promises";

const HASH_BYTES = 32;

/** `isThorough`: also where it was checked before. */
export async function isWhole(image: string, isThorough = false): Promise<boolean> {
  try {
    const identity = await identityOf(image);
    if (!isThorough && readText(checkedPath(image)) === identity) return true;
    if (!(await hasItsHash(image))) return false;
    remember(image, identity);
    return true;
  } catch {
    return false; // there is none, or it cannot be read
  }
}

/** The file that remembers the check of an image. */
export function checkedPath(image: string): string {
  return `${image}.checked`;
}

async function hasItsHash(image: string): Promise<boolean> {
  const { size } = await stat(image);
  const end = size - HASH_BYTES;
  if (end <= 0) return false;
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(image, { end: end - 1 })) hash.update(chunk as Buffer);
  const file = await open(image);
  try {
    const { buffer } = await file.read(Buffer.alloc(HASH_BYTES), 0, HASH_BYTES, end);
    return hash.digest().equals(buffer);
  } finally {
    await file.close();
  }
}

/** Another file, and another content of it, has another one. */
async function identityOf(image: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await stat(image, { bigint: true });
  return [ino, size, mtimeNs, ctimeNs].join("-");
}

function remember(image: string, identity: string): void {
  try {
    writeFileSync(checkedPath(image), identity);
  } catch {
    // it is checked again the next time
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
