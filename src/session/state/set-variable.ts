// Sets one variable of a session from JSON, text, bytes or a file, byte for byte.
//
// Small values travel in the command. Large ones follow it in pieces that are read on demand, so that a gigabyte takes a mebibyte of the
// host's memory. Nothing is set unless all of it arrived.

import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { SessionStateError } from "../../errors.ts";
import type { BulkSource } from "../../kernel/bulk/send-bulk.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { SetCommand } from "../../protocol/worker/host-messages.ts";
import { isWellFormed } from "../../protocol/worker/is-well-formed.ts";
import type { Interrupted } from "../kernels/interruptible.ts";
import { describeReadProblem } from "../../util/files/file-problem.ts";
import { isPythonName } from "../../util/python-name.ts";
import { readChunks } from "../../util/bytes/read-chunks.ts";

/** Exactly one of them. */
export type VariableValue =
  /** As `JSON.stringify` has it: `undefined` in an object is left out, NaN is None, a bigint is a TypeError. */
  | { readonly json: unknown }
  /** JSON is parsed by Python, so integers of any size are exact. */
  | { readonly text: string; readonly as?: "text" | "json" }
  /** Not copied: they must not change until the variable is set. */
  | { readonly bytes: Uint8Array }
  /** A path of the host. JSON is parsed by Python, as above. */
  | { readonly file: string; readonly as?: "bytes" | "text" | "json"; readonly range?: FileRange }
  /** A path of the host that is known when it is its turn. */
  | { readonly open: () => Promise<{ readonly path: string }>; readonly as: "bytes" | "text" | "json" };

/** A part of a file, which has all of these bytes. */
export interface FileRange {
  readonly offset: number;
  readonly length: number;
  /** Of the content, where it is known. */
  readonly digest?: string;
}

export interface Setting {
  readonly name: string;
  /** Opens the file, if it is one. */
  readonly open: () => Promise<OpenSetting>;
}

interface OpenSetting {
  readonly command: SetCommand;
  readonly source?: BulkSource;
  readonly close?: () => Promise<void>;
}

const INLINE_CHARACTERS = 16 * 1024;
const PIECE_CHARACTERS = 256 * 1024;

/** Throws a TypeError or RangeError for an invalid name or value. */
export function toSetting(name: string, value: VariableValue): Setting {
  const checked = checkName(name);
  return { name: checked, open: toOpener(checked, value) };
}

/** Throws a SessionStateError; the variable is unchanged then. Its cause has the name of the exception in Python, if there was one. */
export async function setVariable(
  kernel: Kernel,
  { name, open: openSetting }: Setting,
  { sessionId, interrupted }: { readonly sessionId: string; readonly interrupted: Interrupted },
): Promise<void> {
  const fail = (why: string, cause?: unknown): SessionStateError =>
    new SessionStateError({ action: `set variable '${name}'`, sessionId, why }, { cause });
  const setting = await openSetting().catch((error: unknown) => {
    throw fail(error instanceof Error ? error.message : String(error), error);
  });
  try {
    const why = interrupted();
    if (why !== undefined) throw fail(why); // while it was opened
    const status = await kernel.request(setting.command, { limitMs: null, source: setting.source });
    if (status === undefined && kernel.isOutOfMemory)
      throw fail("the session used too much memory", toCause("MemoryError"));
    if (status === undefined) throw fail(interrupted() ?? "the worker was lost");
    if (status.error !== undefined) {
      const { name: exception, value } = status.error;
      throw fail(interrupted() ?? (value || exception), toCause(exception, value));
    }
  } finally {
    await setting.close?.();
  }
}

/** An exception of Python. */
function toCause(name: string, message = ""): Error {
  return Object.assign(new Error(message), { name });
}

/** Normalized as Python does. Throws a TypeError or RangeError. */
export function checkName(name: unknown): string {
  if (typeof name !== "string") throw new TypeError(`Cannot use a ${typeof name} as the name of a variable`);
  const normal = name.normalize("NFKC");
  if (!isPythonName(normal)) {
    throw new RangeError(`Cannot use '${name.slice(0, 80)}' as the name of a variable: Python would not take it`);
  }
  return normal;
}

function toOpener(name: string, value: VariableValue): () => Promise<OpenSetting> {
  const kinds = ["json", "text", "bytes", "file", "open"].filter((kind) =>
    Object.hasOwn((value as object | null) ?? {}, kind),
  );
  if (kinds.length !== 1) throw new TypeError(`Cannot set '${name}': give one of json, text, bytes and file`);
  if ("json" in value) {
    const json: string | undefined = JSON.stringify(value.json);
    if (json === undefined) throw new TypeError(`Cannot set '${name}': JSON has no ${typeof value.json}`);
    return async () => toTextSetting(name, "json", json);
  }
  if ("text" in value) {
    const { text, as = "text" } = value;
    if (typeof text !== "string") throw new TypeError(`Cannot set '${name}': text must be a string`);
    if (!isWellFormed(text)) throw new TypeError(`Cannot set '${name}': the text has half of a surrogate pair in it`);
    if (as !== "text" && as !== "json") throw new TypeError(`Cannot set '${name}': as must be 'text' or 'json'`);
    return async () => toTextSetting(name, as, text);
  }
  if ("bytes" in value) {
    const { bytes } = value;
    if (!(bytes instanceof Uint8Array)) throw new TypeError(`Cannot set '${name}': bytes must be a Uint8Array`);
    const command: SetCommand = { cmd: "set", name, kind: "bytes", bulk: true, size: bytes.length };
    return async () => ({ command, source: toSource(bytes.length, () => [bytes]) });
  }
  const { as = "bytes" } = value;
  const { file, range } = "open" in value ? { file: "", range: undefined } : value;
  if (typeof file !== "string") throw new TypeError(`Cannot set '${name}': file must be a path`);
  if (!["bytes", "text", "json"].includes(as)) {
    throw new TypeError(`Cannot set '${name}': as must be 'bytes', 'text' or 'json'`);
  }
  return async () => openFile(name, "open" in value ? (await value.open()).path : file, as, range);
}

function toTextSetting(name: string, kind: "json" | "text", value: string): OpenSetting {
  if (value.length <= INLINE_CHARACTERS) return { command: { cmd: "set", name, kind, value } };
  const size = Buffer.byteLength(value);
  return { command: { cmd: "set", name, kind, bulk: true, size }, source: toSource(size, () => encode(value)) };
}

/** UTF-8 in pieces, without splitting surrogate pairs. */
function* encode(text: string): Generator<Buffer> {
  let at = 0;
  while (at < text.length) {
    let end = Math.min(text.length, at + PIECE_CHARACTERS);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end -= 1;
    yield Buffer.from(text.slice(at, end), "utf8");
    at = end;
  }
}

function toSource(sizeBytes: number, pieces: () => Iterable<Uint8Array>): BulkSource {
  return {
    sizeBytes,
    async *[Symbol.asyncIterator]() {
      yield* pieces();
    },
  };
}

async function openFile(
  name: string,
  path: string,
  kind: "bytes" | "text" | "json",
  range?: FileRange,
): Promise<OpenSetting> {
  // Non-blocking: opening a named pipe would otherwise wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw new Error(`'${path}' cannot be read: ${describeReadProblem(error)}`, { cause: error });
  });
  try {
    const before = await file.stat();
    if (!before.isFile()) throw new Error(`'${path}' is ${before.isDirectory() ? "a folder" : "not a file"}`);
    const { offset: start, length: size } = range ?? { offset: 0, length: before.size };
    // Without a range to the end, not to the size, to notice a file that grew.
    const end = range === undefined ? Number.POSITIVE_INFINITY : start + size;
    return {
      command: { cmd: "set", name, kind, bulk: true, size },
      source: {
        sizeBytes: size,
        async *[Symbol.asyncIterator]() {
          yield* readChunks(file, start, end);
          await checkUnchanged(file, before.mtimeMs);
        },
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function checkUnchanged(file: FileHandle, mtimeMs: number): Promise<void> {
  if ((await file.stat()).mtimeMs !== mtimeMs) throw new Error("the file changed while it was read");
}
