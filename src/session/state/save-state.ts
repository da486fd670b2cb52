// Saves and loads the state of a session. Where it is stored is up to StateWriter and StateReader.

import { SessionStateError } from "../../errors.ts";
import type { ChunkSink } from "../../kernel/pending-requests.ts";
import type { BulkSource } from "../../kernel/bulk/send-bulk.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import {
  parseLoaded,
  parseSavedState,
  type LoadReport,
  type SavedState,
  type SaveReport,
} from "../../protocol/session-manifest.ts";
import type { ChunkHeader } from "../../protocol/worker/worker-events.ts";
import type { Interrupted } from "../kernels/interruptible.ts";

/** Takes a state in pieces. `finish` or `discard` is called once, at the end. */
export interface StateWriter {
  /** The bytes are only valid during the call. May throw, for example when the disk is full. */
  write(piece: Buffer): void;
  /** Drops what was written: the state starts again. */
  restart(): void;
  /** Moves the whole state to its path. */
  finish(state: SavedState): Promise<{ readonly sizeBytes: number; readonly digest: string }>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

/** A saved state. */
export interface StateReader {
  readonly path: string;
  readonly state: SavedState;
  /** From the start, each time it is called. */
  body(): BulkSource;
}

const MAX_RESTARTS = 8;

interface Context {
  readonly sessionId: string;
  readonly interrupted: Interrupted;
}

/** Throws a SessionStateError; the file at the path is unchanged then. */
export async function saveState(
  kernel: Kernel,
  path: string,
  openWriter: () => StateWriter,
  { sessionId, interrupted, maxBytes }: Context & { readonly maxBytes: number },
): Promise<SaveReport> {
  const fail = (why: string, cause?: unknown): SessionStateError =>
    new SessionStateError({ action: `save to '${path}'`, sessionId, why }, { cause });
  const writer = openOrFail(openWriter, fail);
  const sink = new SavedBytes(kernel, writer, maxBytes);
  try {
    const status = await kernel.request({ cmd: "save" }, { limitMs: null, sink });
    if (sink.failure !== undefined) throw fail(sink.failure.message, sink.failure);
    if (status === undefined) throw fail(interrupted() ?? "the worker was lost");
    if (status.error !== undefined) throw fail(interrupted() ?? (status.error.value || status.error.name));
    const state = status.data === undefined ? null : parseSavedState(status.data);
    if (state === null) throw fail("the worker sent an invalid reply");
    const { sizeBytes, digest } = await writer.finish(state).catch((error: Error) => {
      throw fail(error.message, error);
    });
    return { path, sizeBytes, names: state.names, skipped: state.skipped, digest };
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

function openOrFail(openWriter: () => StateWriter, fail: (why: string, cause: unknown) => Error): StateWriter {
  try {
    return openWriter();
  } catch (error) {
    throw fail((error as Error).message, error);
  }
}

/** Throws a SessionStateError; the namespace is unchanged then, unless the worker was lost. */
export async function loadState(
  kernel: Kernel,
  reader: StateReader,
  { sessionId, interrupted }: Context,
): Promise<LoadReport> {
  const { path, state } = reader;
  const fail = (why: string): SessionStateError =>
    new SessionStateError({ action: `load '${path}'`, sessionId, why: interrupted() ?? why });
  const { python, implementation, bytecode } = state;
  const version = { python, implementation, bytecode };
  const attempts = [
    () => kernel.request({ cmd: "can-load", version }),
    () =>
      kernel.request({ cmd: "load", bulk: true, tolerant: false, version }, { limitMs: null, source: reader.body() }),
    // Code of the saved session raised an error: this time the variables concerned are skipped.
    () =>
      kernel.request({ cmd: "load", bulk: true, tolerant: true, version }, { limitMs: null, source: reader.body() }),
  ];
  for (const attempt of attempts) {
    const status = await attempt();
    if (status === undefined) throw fail("the worker was lost");
    if (status.error !== undefined) throw fail(status.error.value || status.error.name);
    const loaded = parseLoaded(status.data);
    if (loaded !== null) return loaded;
  }
  throw fail("the worker sent an invalid reply");
}

/** Passes the bytes of one save to the writer: in order, up to a limit, and none after a failure. */
class SavedBytes implements ChunkSink {
  readonly #kernel: Kernel;
  readonly #writer: StateWriter;
  readonly #maxBytes: number;
  #size = 0;
  #restarts = 0;
  failure: Error | undefined;

  constructor(kernel: Kernel, writer: StateWriter, maxBytes: number) {
    this.#kernel = kernel;
    this.#writer = writer;
    this.#maxBytes = maxBytes;
  }

  begin({ at, bytes }: ChunkHeader): boolean {
    if (this.failure !== undefined) return false;
    if (at === 0 && this.#size > 0) this.#restart();
    if (at !== this.#size) return false;
    if (at + bytes > this.#maxBytes) this.#fail(new Error(`it has more than ${this.#maxBytes} bytes`));
    return this.failure === undefined;
  }

  take(piece: Buffer): void {
    if (this.failure !== undefined) return;
    this.#size += piece.length;
    try {
      this.#writer.write(piece);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #restart(): void {
    this.#restarts += 1;
    this.#size = 0;
    this.#writer.restart();
    if (this.#restarts > MAX_RESTARTS) this.#fail(new Error("it begins again and again"));
  }

  #fail(error: Error): void {
    this.failure = error;
    this.#kernel.stop("cancelled");
  }
}
