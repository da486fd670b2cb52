// Content in every form that the API takes, as pieces.

import type { BlobLike, Content, ReadableStreamLike } from "./web-types.ts";

/** Throws a TypeError for what is no content. */
export function checkContent(what: string, content: unknown): void {
  if (typeof content === "string" || content instanceof Uint8Array || isBlob(content)) return;
  if (isStream(content) || isAsyncIterable(content)) return;
  throw new TypeError(
    `Cannot use a ${typeof content} as ${what}: give a string, bytes, a Blob, a ReadableStream or an async iterable of them`,
  );
}

/** The pieces, in order. Leaving the iteration cancels a stream. */
export async function* piecesOf(content: Content): AsyncGenerator<string | Uint8Array, void, undefined> {
  if (typeof content === "string" || content instanceof Uint8Array) yield content;
  else if (isBlob(content)) yield* readStream(content.stream());
  else if (isStream(content)) yield* readStream(content);
  else for await (const piece of content) yield checkPiece(piece);
}

export function isBlob(content: unknown): content is BlobLike {
  return (
    typeof content === "object" &&
    content !== null &&
    typeof (content as Partial<BlobLike>).stream === "function" &&
    typeof (content as Partial<BlobLike>).size === "number"
  );
}

function isStream(content: unknown): content is ReadableStreamLike {
  const { getReader } = (content ?? {}) as Partial<ReadableStreamLike>;
  return typeof getReader === "function";
}

function isAsyncIterable(content: unknown): content is AsyncIterable<string | Uint8Array> {
  return typeof content === "object" && content !== null && Symbol.asyncIterator in content;
}

async function* readStream(stream: ReadableStreamLike): AsyncGenerator<string | Uint8Array, void, undefined> {
  const reader = stream.getReader();
  let isRead = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isRead = done;
      if (done) return;
      yield checkPiece(value);
    }
  } finally {
    if (!isRead) await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

function checkPiece(piece: unknown): string | Uint8Array {
  if (typeof piece === "string" || piece instanceof Uint8Array) return piece;
  throw new TypeError(`Cannot use a piece that is a ${typeof piece}: pieces are strings or bytes`);
}
