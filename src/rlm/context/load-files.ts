// Files of the host as values in the session: one as a variable, or many as a dict from name to content.
//
// Small files travel together: names, sizes and contents as one value of bytes, which Python takes apart. The next batch is read while
// a session takes one.

import type { Session } from "../../session/session.ts";
import type { FileRange } from "../../session/state/set-variable.ts";
import { mapAhead } from "../../util/async/map-ahead.ts";
import { describeReadProblem } from "../../util/files/file-problem.ts";
import { readFile, readRange } from "../../util/files/read-file.ts";
import type { ContextFile } from "./context-item.ts";

interface ReadFile {
  readonly name: string;
  readonly bytes: Buffer;
}

interface HostFile {
  readonly file: string;
  readonly range?: FileRange;
}

/** A larger file travels alone, in pieces. */
const SMALL_BYTES = 16 * 1024 * 1024;
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_FILES = 10_000;
/** Files that are open at once. */
const READ_AHEAD = 32;

/** As text, or as bytes if it is not UTF-8. */
export async function loadFile(session: Session, name: string, file: HostFile, signal: AbortSignal): Promise<void> {
  const options = { timeoutMs: null, signal };
  try {
    await session.set(name, { ...file, as: "text" }, options);
  } catch (error) {
    if (!isNotText(error)) throw error;
    await session.set(name, { ...file, as: "bytes" }, options);
  }
}

/** In the order of the files. */
export async function loadFiles(
  session: Session,
  name: string,
  files: readonly ContextFile[],
  signal: AbortSignal,
): Promise<void> {
  await session.set(name, { json: {} }, { signal });
  const portions = readPortions(files, signal);
  for (let next = portions.next(); ;) {
    const { value: portion, done } = await next;
    if (done === true) return;
    next = portions.next();
    next.catch(() => {}); // it is awaited unless this portion fails
    if (Array.isArray(portion)) await loadBatch(session, name, portion, signal);
    else await loadLarge(session, name, portion as ContextFile, signal);
  }
}

/** The contents of small files in batches, and large files by themselves. */
async function* readPortions(
  files: readonly ContextFile[],
  signal: AbortSignal,
): AsyncGenerator<readonly ReadFile[] | ContextFile, void, void> {
  let batch: ReadFile[] = [];
  let size = 0;
  const weightOf = (file: ContextFile): number => (isLarge(file) ? 0 : sizeOf(file));
  const bounds = { count: READ_AHEAD, weight: BATCH_BYTES, weightOf };
  for await (const one of mapAhead(files, (file) => readSmall(file, signal), bounds)) {
    const added = "bytes" in one ? one.bytes.length + one.name.length : 0;
    const isFull = batch.length === BATCH_FILES || size + added > BATCH_BYTES;
    if (batch.length > 0 && (isFull || !("bytes" in one))) {
      yield batch;
      [batch, size] = [[], 0];
    }
    if ("bytes" in one) batch.push(one);
    else yield one;
    size += added;
  }
  if (batch.length > 0) yield batch;
}

async function readSmall(file: ContextFile, signal: AbortSignal): Promise<ReadFile | ContextFile> {
  signal.throwIfAborted();
  const { name, path, range, size, content } = file;
  if (content !== undefined) return { name, bytes: content };
  if (isLarge(file)) return file;
  try {
    const bytes = range ? await readRange(path, range.offset, range.length) : await readFile(path, size, SMALL_BYTES);
    return { name, bytes };
  } catch (error) {
    throw new Error(`'${path}' cannot be read: ${describeReadProblem(error)}`, { cause: error });
  }
}

function isLarge(file: ContextFile): boolean {
  return sizeOf(file) > SMALL_BYTES;
}

function sizeOf({ range, size }: ContextFile): number {
  return range?.length ?? size;
}

/** The bytes are the length of the names and sizes, these as JSON, and the contents. */
async function loadBatch(
  session: Session,
  name: string,
  batch: readonly ReadFile[],
  signal: AbortSignal,
): Promise<void> {
  const sizes = Buffer.from(JSON.stringify(batch.map(({ name: key, bytes }) => [key, bytes.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(sizes.length);
  const bytes = Buffer.concat([length, sizes, ...batch.map((file) => file.bytes)]);
  await session.set("_rlm_files", { bytes }, { timeoutMs: null, signal });
  await call(session, `unpack(${JSON.stringify(name)})`, signal);
}

async function loadLarge(session: Session, variable: string, file: ContextFile, signal: AbortSignal): Promise<void> {
  const { name, path, range } = file;
  await loadFile(session, "_rlm_file", { file: path, ...(range && { range }) }, signal);
  await call(session, `place(${JSON.stringify(variable)}, ${JSON.stringify(name)})`, signal);
}

async function call(session: Session, code: string, signal: AbortSignal): Promise<void> {
  const options = { timeoutMs: null, signal };
  (await session.execute(`__import__("rlm_context").${code}`, options).result).unwrap();
}

function isNotText(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && error.cause.name === "UnicodeError";
}
