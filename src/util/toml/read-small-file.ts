// Reads a file that a person has written.

import { readFileSync, statSync } from "node:fs";
import { ConfigurationError } from "../../errors.ts";

const MAX_BYTES = 1024 * 1024;
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

/** Throws a ConfigurationError that names the file. */
export function readSmallFile(path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new RangeError(`it has ${size} bytes, more than ${MAX_BYTES}`);
    return readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigurationError({ source: path, line: null, why: REASONS[code ?? ""] ?? message }, { cause: error });
  }
}
