// Types of the platform, wherever they are declared: by TypeScript's DOM library, by @types/node, or by neither.
//
// Public declarations name them from here, so that they compile in every project.

/** An `AbortSignal`, as far as it is used here. */
export interface AbortSignalLike {
  /** Whether it is aborted. */
  readonly aborted: boolean;
  /** Why it is aborted. */
  readonly reason: unknown;
  /** Throws the reason if it is aborted. */
  throwIfAborted(): void;
  /** Calls a function when it is aborted. */
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  /** Forgets the function. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A `Blob` or `File`, as far as it is used here. */
export interface BlobLike {
  /** In bytes. */
  readonly size: number;
  /** Its content. */
  stream(): ReadableStreamLike;
}

/** A `ReadableStream` of bytes, as far as it is used here. */
export interface ReadableStreamLike {
  /** A reader of its pieces. */
  getReader(): {
    /** The next piece. */
    read(): Promise<{
      /** Whether there are no more. */
      done: boolean;
      /** The piece. */
      value?: unknown;
    }>;
    /** Ends the stream. */
    cancel(reason?: unknown): Promise<void>;
    /** Gives the stream back. */
    releaseLock(): void;
  };
}

/** The platform's `AbortSignal` where it is declared. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Declared } }
  ? Declared
  : AbortSignalLike;

/** The platform's `fetch` where it is declared. */
export type Fetch = typeof globalThis extends { fetch: infer Declared } ? Declared : FetchLike;

/** A function such as `fetch`, where the platform's is not declared. */
export type FetchLike = (url: string, init?: object) => Promise<unknown>;

/** A `URL`, as far as it is used here. */
export interface URLLike {
  /** The whole address. */
  readonly href: string;
}

/** Bytes, or text as UTF-8: all at once, or as a stream. */
export type Content = string | Uint8Array | BlobLike | ReadableStreamLike | AsyncIterable<string | Uint8Array>;
