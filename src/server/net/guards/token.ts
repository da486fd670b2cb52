// The token that clients must show: RLM_TOKEN, or one that is made at the first start and kept for the user alone.

import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Token {
  readonly value: string;
  /** The file it is kept in; null when it came from RLM_TOKEN. */
  readonly path: string | null;
}

const VISIBLE = /^[\x21-\x7E]+$/;
const TOKEN_BYTES = 32;

/** Throws a RangeError when RLM_TOKEN cannot be sent in a header, and the system's error when the file cannot be had. */
export function openToken(folder: string | undefined, given: string | undefined): Token {
  if (given !== undefined && given !== "") {
    if (!VISIBLE.test(given)) throw new RangeError("RLM_TOKEN must be visible ASCII characters without spaces");
    return { value: given, path: null };
  }
  if (folder === undefined) throw new Error("The data folder cannot be made: set RLM_DATA to one, or RLM_TOKEN");
  const path = join(folder, "token");
  const kept = readKept(path);
  if (kept !== undefined) return { value: kept, path };
  return { value: make(path), path };
}

/** Undefined when there is none, or nothing in it that could be one. */
function readKept(path: string): string | undefined {
  try {
    const value = readFileSync(path, "utf8").trim();
    chmodSync(path, 0o600);
    return VISIBLE.test(value) ? value : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function make(path: string): string {
  const value = randomBytes(TOKEN_BYTES).toString("base64url");
  try {
    writeFileSync(path, `${value}\n`, { mode: 0o600, flag: "wx" });
    return value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Another server made one a moment ago; what it cannot have made is replaced.
    const theirs = readKept(path);
    if (theirs === undefined) writeFileSync(path, `${value}\n`, { mode: 0o600 });
    return theirs ?? value;
  }
}
