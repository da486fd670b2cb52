// Bodies of requests: what can be sent again, and what is a stream that can be read once.

import type { BlobLike, Content, ReadableStreamLike } from "../../api/web-types.ts";

/** What is collected where the platform cannot stream requests. */
const MAX_COLLECTED_BYTES = 1024 ** 3;

export interface RequestBody {
  readonly contentType: string;
  /** For `fetch`. Called once for each attempt, which the signal ends; throws where the body cannot be sent again. */
  open(signal: AbortSignal): unknown;
  readonly isStream: boolean;
  /** Whether another attempt can send it. */
  readonly isRepeatable: boolean;
  /** Set when the source of the stream failed. */
  readonly failure?: { readonly error: unknown } | undefined;
}

export function jsonBody(value: unknown): RequestBody {
  const text = JSON.stringify(value);
  return { contentType: "application/json", open: () => text, isStream: false, isRepeatable: true };
}

/** Content that is in memory or in a Blob, which `fetch` reads itself. */
export function fixedBody(content: string | Uint8Array | Blob, contentType: string): RequestBody {
  // A string without this would be sent as it is; with it, the length is known.
  const body = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { contentType, open: () => body, isStream: false, isRepeatable: true };
}

/** Throws a TypeError for anything but content. Where the platform cannot stream, resolves when the content is collected. */
export function toBody(content: Content, contentType: string): RequestBody | Promise<RequestBody> {
  if (typeof content === "string" || content instanceof Uint8Array) return fixedBody(content, contentType);
  if (content instanceof Blob) return fixedBody(content, contentType);
  const pieces = toPieces(content);
  return isBlobLike(content)
    ? streamBody(() => toPieces(content), contentType, true)
    : streamBody(() => pieces, contentType, false);
}

/** The content in pieces, from its beginning. Throws a TypeError for anything else. */
export function toPieces(content: Content): AsyncIterable<unknown> {
  if (typeof content === "string" || content instanceof Uint8Array) {
    return (async function* () {
      yield content;
    })();
  }
  if (isBlobLike(content)) return fromReader(content.stream());
  if (hasMethod(content, Symbol.asyncIterator)) return content as AsyncIterable<unknown>;
  if (hasMethod(content, "getReader")) return fromReader(content as ReadableStreamLike);
  throw new TypeError("Cannot send this content: give a string, a Uint8Array, a Blob, or a stream of those");
}

function isBlobLike(content: Content): content is BlobLike {
  return hasMethod(content, "stream") && typeof (content as BlobLike).size === "number";
}

function hasMethod(value: unknown, name: string | symbol): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Record<symbol, unknown>)[name as symbol] === "function"
  );
}

async function* fromReader(stream: ReadableStreamLike): AsyncGenerator {
  const reader = stream.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        isOver = true;
        return;
      }
      yield value;
    }
  } finally {
    if (!isOver) reader.cancel().catch(() => {});
  }
}

/** `open` begins the content anew where it is repeatable. */
export function streamBody(
  open: () => AsyncIterable<unknown>,
  contentType: string,
  isRepeatable: boolean,
): RequestBody | Promise<RequestBody> {
  return canStream() ? new StreamBody(open, contentType, isRepeatable) : collect(open(), contentType);
}

class StreamBody implements RequestBody {
  readonly isStream = true;
  readonly isRepeatable: boolean;
  readonly contentType: string;
  readonly #open: () => AsyncIterable<unknown>;
  #hasBegun = false;
  failure: { readonly error: unknown } | undefined;

  constructor(open: () => AsyncIterable<unknown>, contentType: string, isRepeatable: boolean) {
    this.#open = open;
    this.contentType = contentType;
    this.isRepeatable = isRepeatable;
  }

  open(signal: AbortSignal): ReadableStream<Uint8Array> {
    if (this.#hasBegun && !this.isRepeatable) throw new TypeError("Cannot send a stream twice");
    this.#hasBegun = true;
    const source = this.#open()[Symbol.asyncIterator]();
    const close = (): void => void Promise.resolve(source.return?.()).catch(() => {});
    // Node's fetch reads on after an abort, and never lets go of a source that has no end.
    signal.addEventListener("abort", close, { once: true });
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await source.next();
            if (signal.aborted) return controller.error(new Error("aborted"));
            if (done === true) controller.close();
            else controller.enqueue(toBytes(value));
          } catch (error) {
            this.failure = { error };
            throw error;
          }
        },
        cancel: close,
      },
      { highWaterMark: 0 },
    );
  }
}

function toBytes(piece: unknown): Uint8Array {
  if (piece instanceof Uint8Array) return piece;
  if (typeof piece === "string") return new TextEncoder().encode(piece);
  throw new TypeError(`Cannot send a ${typeof piece}: a stream of content has strings and Uint8Arrays`);
}

/** Browsers stream requests over HTTP/2 only, or not at all. */
function canStream(): boolean {
  return !("document" in globalThis || "importScripts" in globalThis);
}

async function collect(pieces: AsyncIterable<unknown>, contentType: string): Promise<RequestBody> {
  const parts: Blob[] = [];
  let total = 0;
  for await (const piece of pieces) {
    const bytes = toBytes(piece);
    total += bytes.length;
    if (total > MAX_COLLECTED_BYTES) {
      throw new RangeError(
        `Cannot send more than ${MAX_COLLECTED_BYTES} bytes from a stream: this browser must collect them first. Give a Blob`,
      );
    }
    parts.push(new Blob([new Uint8Array(bytes)])); // copied, because a Blob takes no shared memory
  }
  return fixedBody(new Blob(parts), contentType);
}
