// Reads the code for `rlm exec` and its sys.argv.

import { readFile } from "node:fs/promises";
import { UsageError } from "../options/usage-error.ts";

export interface Source {
  readonly code: string;
  readonly argv: readonly string[];
  /** The name in tracebacks, like Python's own. */
  readonly fileName: string;
  /** The code came from standard input, so the program has no input left to read. */
  readonly usedInput: boolean;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** `code` is the value of -c; without it the first argument is a file or `-`. `command` is named in the error. */
export async function readSource(code: string | undefined, args: readonly string[], command = "exec"): Promise<Source> {
  if (code !== undefined) return { code, argv: ["-c", ...args], fileName: "<string>", usedInput: false };
  const [name] = args;
  if (name === undefined)
    throw new UsageError(`nothing to run: give -c CODE, a FILE, or - for standard input. Run 'rlm ${command} --help'`);
  const bytes = name === "-" ? await readStandardInput() : await readProgram(name);
  const isInput = name === "-";
  const text = decode(bytes, isInput ? "standard input" : `'${name}'`);
  return { code: text, argv: args, fileName: isInput ? "<stdin>" : name, usedInput: isInput };
}

async function readProgram(path: string): Promise<Buffer> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > MAX_BYTES) throw tooLarge(`'${path}'`);
    return bytes;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new UsageError(`cannot run '${path}': ${REASONS[code] ?? message}`);
  }
}

async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > MAX_BYTES) throw tooLarge("standard input");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`cannot run ${what}: it is not UTF-8 text`);
  }
}

function tooLarge(what: string): UsageError {
  return new UsageError(`cannot run ${what}: it is larger than 64 MiB`);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
  ENOTDIR: "there is no such file",
  ERR_FS_FILE_TOO_LARGE: "it is larger than 64 MiB",
};
