// A context on its way into the log of its run: read twice, first for its size, its digest and the keys that may be in it.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { readChunks } from "../../util/bytes/read-chunks.ts";
import type { RunFiles } from "./run-files.ts";
import { CHUNK_BYTES, type RecordedContext } from "./run-log-format.ts";

/** Contexts of one run that are kept whole, in all, unless somebody says otherwise. */
export const MAX_CONTEXT_BYTES = 64 * 1024 * 1024;

export type ContextSource = { readonly bytes: Uint8Array } | { readonly path: string };

interface ContextOptions {
  readonly files: RunFiles;
  readonly secrets: readonly string[];
  readonly maxBytes: number;
}

/** Rejects where it cannot be written; what cannot be read is recorded as such. */
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
  if (whole.digest("hex") !== sha256) return { bytes, sha256, chunks: null, omitted: "unreadable" }; // it changed in the meantime
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
    const joined = Buffer.concat([before, chunk]); // a key may begin in one piece and end in the next
    hasSecret = wanted.some((secret) => joined.includes(secret));
    before = Buffer.from(joined.subarray(Math.max(0, joined.length - overlap)));
  }
  return { bytes, sha256: hash.digest("hex"), hasSecret };
}

/** Pieces of the size of a chunk, the last one smaller; valid until the next one is asked for. */
async function* readSource(source: ContextSource, maxBytes: number): AsyncGenerator<Buffer, void, void> {
  if ("bytes" in source) {
    const { buffer, byteOffset, byteLength } = source.bytes;
    for (let at = 0; at < byteLength; at += CHUNK_BYTES)
      yield Buffer.from(buffer, byteOffset + at, Math.min(CHUNK_BYTES, byteLength - at));
    return;
  }
  const file = await open(source.path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new TypeError("it is not a file");
    yield* readChunks(file, 0, Math.min(stat.size, maxBytes));
  } finally {
    await file.close();
  }
}
