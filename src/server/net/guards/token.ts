// The token that clients must send: RLM_TOKEN, or one that is created at the first start in a file that only the user can read.

import { randomBytes } from "node:crypto";
import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataPath, describeDataFolder } from "../../../util/data-folder.ts";
import { describeWriteProblem } from "../../../util/files/file-problem.ts";

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
  if (folder === undefined) {
    const why = describeDataFolder("server");
    throw new Error(
      `Cannot keep the token in '${dataPath("server")}': ${why}. Set RLM_DATA to a folder of yours, or RLM_TOKEN`,
    );
  }
  const path = join(folder, "token");
  return { value: readStored(path) ?? create(path), path };
}

/** Undefined: the file does not exist, or contains no token. A link is not followed, and a file of another user not trusted. */
function readStored(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const status = fstatSync(fd);
    if (!status.isFile() || status.uid !== process.getuid?.())
      throw new Error(`'${path}' is not a file of this user: remove it, and a token is made`);
    fchmodSync(fd, 0o600);
    const value = readFileSync(fd, "utf8").trim();
    return VISIBLE.test(value) ? value : undefined;
  } finally {
    closeSync(fd);
  }
}

function create(path: string): string {
  const value = randomBytes(TOKEN_BYTES).toString("base64url");
  try {
    writeFileSync(path, `${value}\n`, { mode: 0o600, flag: "wx" });
    return value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      const why = describeWriteProblem(path, error);
      throw new Error(`Cannot write the token to ${path}: ${why}. Set RLM_DATA to another folder, or RLM_TOKEN`, {
        cause: error,
      });
    }
    // Another server has just created it. Anything that is not a token is replaced.
    const theirs = readStored(path);
    if (theirs === undefined) writeFileSync(path, `${value}\n`, { mode: 0o600 });
    return theirs ?? value;
  }
}
