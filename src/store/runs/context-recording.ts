// Records a context in the log of its run. It is read twice, first for its size, its digest, and keys that it may contain.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { readChunks } from "../../util/bytes/read-chunks.ts";
import type { RunFiles } from "./run-files.ts";
import { CHUNK_BYTES, type RecordedContext } from "./run-log-format.ts";

/** The default limit on the contexts of one run that are recorded, in total. */
export const MAX_CONTEXT_BYTES = 64 * 1024 * 1024;

export type ContextSource =
  | { readonly bytes: Uint8Array }
  | { readonly path: string; readonly range?: { readonly offset: number; readonly length: number } };

interface ContextOptions {
  readonly files: RunFiles;
  readonly secrets: readonly string[];
  readonly maxBytes: number;
}

/** Rejects for an error of writing. A context that cannot be read is recorded as such. */
export async function recordContext(
  source: ContextSource,
  { files, secrets, maxBytes }: ContextOptions,
): Promise<Omit<RecordedContext, "name">> {
  const found = await examine(source, secrets).catch(() => undefined);
  if (found === undefined) return { bytes: null, sha256: null, chunks: null, omitted: "unreadable" };
  const { bytes, sha256 } = found;
  if (found.hasSecret) return { bytes, sha256, chunks: null, omitted: "secret" };
  if (bytes > maxBytes) return { bytes, sha256, chunks: null, omitted: "size" };
  const [chunks, whole] = [[] as string[], createHash("sha256")];
  for await (const chunk of readSource(source, bytes)) {
    const digest = createHash("sha256").update(chunk).digest("hex");
    await files.keepBlob(digest, chunk);
    whole.update(chunk);
    chunks.push(digest);
  }
  if (whole.digest("hex") !== sha256) return { bytes, sha256, chunks: null, omitted: "unreadable" }; // it has changed since
  return { bytes, sha256, chunks, omitted: null };
}

async function examine(
  source: ContextSource,
  secrets: readonly string[],
): Promise<{ readonly bytes: number; readonly sha256: string; readonly hasSecret: boolean }> {
  const hash = createHash("sha256");
  const wanted = secrets.map((secret) => Buffer.from(secret));
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1));
  let [bytes, hasSecret, before] = [0, false, Buffer.alloc(0)];
  for await (const chunk of readSource(source, Number.POSITIVE_INFINITY)) {
    hash.update(chunk);
    bytes += chunk.length;
    if (wanted.length === 0 || hasSecret) continue;
    const joined = Buffer.concat([before, chunk]); // a key may span two chunks
    hasSecret = wanted.some((secret) => joined.includes(secret));
    before = Buffer.from(joined.subarray(Math.max(0, joined.length - overlap)));
  }
  return { bytes, sha256: hash.digest("hex"), hasSecret };
}

/** Chunks of equal size, except for the last. Each is valid until the next one is read. */
async function* readSource(source: ContextSource, maxBytes: number): AsyncGenerator<Buffer, void, void> {
  if ("bytes" in source) {
    const { buffer, byteOffset, byteLength } = source.bytes;
    for (let offset = 0; offset < byteLength; offset += CHUNK_BYTES)
      yield Buffer.from(buffer, byteOffset + offset, Math.min(CHUNK_BYTES, byteLength - offset));
    return;
  }
  const file = await open(source.path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new TypeError("it is not a file");
    const { offset, length } = source.range ?? { offset: 0, length: stat.size };
    yield* readChunks(file, offset, offset + Math.min(length, maxBytes));
  } finally {
    await file.close();
  }
}
