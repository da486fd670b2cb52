// Saves the state of a session, and brings one back. Where it is kept is somebody else's business: see StateWriter.

import { SessionStateError } from "../../errors.ts";
import type { ChunkSink } from "../../kernel/asks.ts";
import type { BulkSource } from "../../kernel/bulk.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import {
  parseLoaded,
  parseSavedState,
  type LoadReport,
  type SavedState,
  type SkippedVariable,
} from "../../protocol/session-manifest.ts";
import type { ChunkHeader } from "../../protocol/worker/worker-events.ts";

/** Takes a state as it comes. `finish` or `discard` is called once, at the end. */
export interface StateWriter {
  /** The bytes are only valid during the call. May throw: the disk may be full. */
  write(piece: Buffer): void;
  /** Forgets what was written: the state begins again. */
  restart(): void;
  /** Keeps it under its path, as a whole. */
  finish(state: SavedState): Promise<{ readonly sizeBytes: number; readonly digest: string }>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

/** A state that was saved. */
export interface StateReader {
  readonly path: string;
  readonly state: SavedState;
  /** From the start, each time it is asked for. */
  body(): BulkSource;
}

/** What became of a save. */
export interface SaveReport {
  readonly path: string;
  readonly sizeBytes: number;
  readonly names: readonly string[];
  /** What could not be saved, and why. */
  readonly skipped: readonly SkippedVariable[];
  /** SHA-256 of the file, as it is checked when it is loaded. */
  readonly digest: string;
}

const MAX_RESTARTS = 8;

interface Context {
  readonly sessionId: string;
  /** Why it was stopped, if it was. */
  readonly stopped: () => string | undefined;
}

/** Throws a SessionStateError; nothing was written then, and what was at the path is still there. */
export async function saveState(
  kernel: Kernel,
  path: string,
  openWriter: () => StateWriter,
  { sessionId, stopped, maxBytes }: Context & { readonly maxBytes: number },
): Promise<SaveReport> {
  const fail = (why: string, cause?: unknown): SessionStateError =>
    new SessionStateError({ action: `save to '${path}'`, sessionId, why }, { cause });
  const writer = openOrFail(openWriter, fail);
  const sink = new SavedBytes(kernel, writer, maxBytes);
  try {
    const status = await kernel.ask({ cmd: "save" }, { limitMs: null, sink });
    if (sink.failure !== undefined) throw fail(sink.failure.message, sink.failure);
    if (status === undefined) throw fail(stopped() ?? "the worker was lost");
    if (status.error !== undefined) throw fail(stopped() ?? (status.error.value || status.error.name));
    const state = parseSavedState(status.data);
    if (state === null) throw fail("the worker answered nonsense");
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

/** Throws a SessionStateError; the namespace is as it was then, unless the worker was lost. */
export async function loadState(
  kernel: Kernel,
  reader: StateReader,
  { sessionId, stopped }: Context,
): Promise<LoadReport> {
  const { path, state } = reader;
  const fail = (why: string): SessionStateError =>
    new SessionStateError({ action: `load '${path}'`, sessionId, why: stopped() ?? why });
  const { python, implementation, bytecode } = state;
  const version = { python, implementation, bytecode };
  const answers = [
    () => kernel.ask({ cmd: "can-load", version }),
    () => kernel.ask({ cmd: "load", bulk: true, patient: false }, { limitMs: null, source: reader.body() }),
    // Code of the saved session raised on the way: what it concerns is left out this time.
    () => kernel.ask({ cmd: "load", bulk: true, patient: true }, { limitMs: null, source: reader.body() }),
  ];
  for (const ask of answers) {
    const status = await ask();
    if (status === undefined) throw fail("the worker was lost");
    if (status.error !== undefined) throw fail(status.error.value || status.error.name);
    const loaded = parseLoaded(status.data);
    if (loaded !== null) return loaded;
  }
  throw fail("the worker answered nonsense");
}

/** The bytes of one save on their way to the writer: in order, bounded, and not at all after a failure. */
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
