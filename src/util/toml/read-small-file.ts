// Reads a file that a person has written.

import { statSync } from "node:fs";
import { ConfigurationError } from "../../errors.ts";
import { readStart } from "../files/read-start.ts";

const MAX_BYTES = 1024 * 1024;
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

/**
 * Throws a ConfigurationError that names the file. A named pipe is read, too, since shells make one for `<(...)`; with `isPlain` only a
 * file is: a pipe that a project names may never have a writer, and nothing but a kill would end the wait.
 */
export function readSmallFile(path: string, { isPlain = false } = {}): Buffer {
  try {
    if (isPlain && !statSync(path).isFile()) throw new TypeError("it is not a file");
    const bytes = readStart(path, MAX_BYTES + 1);
    if (bytes.length > MAX_BYTES) throw new RangeError(`it has more than ${MAX_BYTES} bytes`);
    return bytes;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigurationError({ source: path, line: null, why: REASONS[code ?? ""] ?? message }, { cause: error });
  }
}
