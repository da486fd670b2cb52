// The token that clients must send: RLM_TOKEN, or one that is created at the first start in a file that only the user can read.

import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Token {
  readonly value: string;
  /** Null: it came from RLM_TOKEN. */
  readonly path: string | null;
}

const VISIBLE = /^[\x21-\x7E]+$/;
const TOKEN_BYTES = 32;

/** Throws a RangeError when RLM_TOKEN cannot be sent in a header, and the system's error when the file cannot be read or created. */
export function openToken(folder: string | undefined, configured: string | undefined): Token {
  if (configured !== undefined && configured !== "") {
    if (!VISIBLE.test(configured)) throw new RangeError("RLM_TOKEN must be visible ASCII characters without spaces");
    return { value: configured, path: null };
  }
  if (folder === undefined) throw new Error("The data folder cannot be made: set RLM_DATA to one, or RLM_TOKEN");
  const path = join(folder, "token");
  return { value: readStored(path) ?? create(path), path };
}

/** Undefined: the file does not exist, or contains no token. */
function readStored(path: string): string | undefined {
  try {
    const value = readFileSync(path, "utf8").trim();
    chmodSync(path, 0o600);
    return VISIBLE.test(value) ? value : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function create(path: string): string {
  const value = randomBytes(TOKEN_BYTES).toString("base64url");
  try {
    writeFileSync(path, `${value}\n`, { mode: 0o600, flag: "wx" });
    return value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Another server has just created it. Anything that is not a token is replaced.
    const theirs = readStored(path);
    if (theirs === undefined) writeFileSync(path, `${value}\n`, { mode: 0o600 });
    return theirs ?? value;
  }
}
