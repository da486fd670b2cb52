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

/** Where a content is in a file that has several, one after the other. */
export interface SpooledRange {
  readonly path: string;
  readonly range: { readonly offset: number; readonly length: number; readonly digest: string };
}

interface SpoolOptions {
  readonly maxBytes: number;
  readonly signal?: Signal | undefined;
}

/** Throws what the source throws, the signal's reason, and a RangeError for content that is larger. Nothing remains then. */
export async function spoolContent(content: Content, options: SpoolOptions): Promise<SpooledContent> {
  const spool = new ContentSpool(options);
  try {
    const { path, range } = await spool.add(content);
    const close = (): Promise<void> => spool[Symbol.asyncDispose]();
    return { path, sizeBytes: range.length, digest: range.digest, [Symbol.asyncDispose]: close };
  } catch (error) {
    await spool[Symbol.asyncDispose]();
    throw error;
  }
}

/** Several contents in one anonymous file, however many they are. What it gave is valid until it is disposed. */
export class ContentSpool implements AsyncDisposable {
  readonly #maxBytes: number;
  readonly #signal: Signal | undefined;
  #file: FileHandle | undefined;
  #size = 0;

  /** `maxBytes`: of all of them together. */
  constructor({ maxBytes, signal }: SpoolOptions) {
    this.#maxBytes = maxBytes;
    this.#signal = signal;
  }

  /** One at a time. Throws what the source throws, the signal's reason, and a RangeError for too much; it is of no use then. */
  async add(content: Content): Promise<SpooledRange> {
    const file = (this.#file ??= await openAnonymousHandle());
    const hash = createHash("sha256");
    const offset = this.#size;
    for await (const piece of untilAborted(piecesOf(content), this.#signal)) {
      const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
      this.#size += bytes.length;
      if (this.#size > this.#maxBytes)
        throw new RangeError(`Cannot use the content: it is larger than ${formatSize(this.#maxBytes)}`);
      hash.update(bytes);
      await file.writeFile(bytes);
    }
    const range = { offset, length: this.#size - offset, digest: hash.digest("base64") };
    return { path: `/proc/self/fd/${file.fd}`, range };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
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
