// Content that is received completely before it is used: in an anonymous file, so that neither memory nor a crash of ours matters.

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { piecesOf } from "../api/content.ts";
import type { Content, Signal } from "../api/web-types.ts";
import { openAnonymousHandle } from "../util/bytes/anonymous-file.ts";
import { formatSize } from "../util/text/format.ts";

export interface SpooledContent extends AsyncDisposable {
  /** Valid until it is disposed. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Of the content: the same for the same bytes. */
  readonly digest: string;
}

interface SpoolOptions {
  readonly maxBytes: number;
  readonly signal?: Signal | undefined;
}

/** Throws what the source throws, the signal's reason, and a RangeError for content that is larger. Nothing remains then. */
export async function spoolContent(content: Content, { maxBytes, signal }: SpoolOptions): Promise<SpooledContent> {
  const file = await openAnonymousHandle();
  try {
    const { sizeBytes, digest } = await writeAll(file, content, { maxBytes, signal });
    return { path: `/proc/self/fd/${file.fd}`, sizeBytes, digest, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function writeAll(
  file: FileHandle,
  content: Content,
  { maxBytes, signal }: SpoolOptions,
): Promise<Pick<SpooledContent, "sizeBytes" | "digest">> {
  const hash = createHash("sha256");
  let total = 0;
  for await (const piece of untilAborted(piecesOf(content), signal)) {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    total += bytes.length;
    if (total > maxBytes) throw new RangeError(`Cannot use the content: it is larger than ${formatSize(maxBytes)}`);
    hash.update(bytes);
    await file.writeFile(bytes);
  }
  return { sizeBytes: total, digest: hash.digest("base64") };
}

/** Does not wait for a source that is stuck when the signal is aborted. */
async function* untilAborted<Piece>(
  pieces: AsyncGenerator<Piece, void, undefined>,
  signal: Signal | undefined,
): AsyncGenerator<Piece, void, undefined> {
  if (signal === undefined) {
    yield* pieces;
    return;
  }
  signal.throwIfAborted();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort);
  });
  aborted.catch(() => {});
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), aborted]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    void pieces.return().catch(() => {});
  }
}
