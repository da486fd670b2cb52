// One task that somebody looks at: its state, what it prints as it prints it, and what can be done with it.
//
// A command that printed little is followed by its events, which tell stdout and stderr apart. Of one that printed much, the end is read,
// and what comes is read by offset; the rest is loaded on demand.

import { signal, type ReadonlySignal } from "@preact/signals";
import { TaskNotFoundError, type AnyTask, type Runtime, type TaskInfo } from "rlm-runtime/client";
import { OutputBlocks, type OutputBlock } from "./output-blocks.ts";
import { hasEnded } from "./tasks.ts";

export interface TaskOutput {
  readonly blocks: readonly OutputBlock[];
  /** So many lines came since it is followed. */
  readonly lineCount: number;
  /** Printed before the first block, and not loaded. */
  readonly earlierBytes: number;
  /** Printed, but not kept by the server. */
  readonly lostBytes: number;
}

/** `missing`: the server has no such task, or does not keep it any more. */
export type TaskProblem = { readonly kind: "missing" } | { readonly kind: "failed"; readonly error: unknown };

/** More is not replayed from the beginning. */
const MAX_REPLAYED_BYTES = 1_000_000;
const PIECE_BYTES = 512 * 1024;
const INFO_MS = 1_000;
const OUTPUT_MS = 400;
/** What comes within this time is shown together. */
const FLUSH_MS = 60;
const NOTHING: TaskOutput = { blocks: [], lineCount: 0, earlierBytes: 0, lostBytes: 0 };

export class OpenTask {
  readonly #task: AnyTask;
  readonly #info = signal<TaskInfo | undefined>(undefined);
  readonly #output = signal<TaskOutput>(NOTHING);
  readonly #problem = signal<TaskProblem | undefined>(undefined);
  readonly #blocks = new OutputBlocks();
  /** Where the first block begins, apart from blocks that were dropped. */
  #start = 0;
  #lost = 0;
  /** What the events told so far. */
  readonly #replayed = { characters: 0, bytes: 0 };
  #flush: ReturnType<typeof setTimeout> | undefined;

  constructor(runtime: Runtime, id: string) {
    this.#task = runtime.tasks.get(id);
  }

  /** Undefined: not known yet. */
  get info(): ReadonlySignal<TaskInfo | undefined> {
    return this.#info;
  }

  get output(): ReadonlySignal<TaskOutput> {
    return this.#output;
  }

  get problem(): ReadonlySignal<TaskProblem | undefined> {
    return this.#problem;
  }

  /** Follows it until disposed. Once. */
  open(): Disposable {
    const stop = new AbortController();
    this.#follow(stop.signal).catch((error: unknown) => {
      if (stop.signal.aborted) return;
      const isMissing = error instanceof TaskNotFoundError;
      this.#problem.value = isMissing ? { kind: "missing" } : { kind: "failed", error };
    });
    return { [Symbol.dispose]: () => stop.abort() };
  }

  cancel(): Promise<void> {
    return this.#act(() => this.#task.cancel());
  }

  pause(): Promise<void> {
    return this.#act(() => this.#task.pause());
  }

  resume(): Promise<void> {
    return this.#act(() => this.#task.resume());
  }

  write(text: string): Promise<void> {
    return this.#task.write(text);
  }

  closeInput(): Promise<void> {
    return this.#task.closeInput();
  }

  /** Loads a piece of what was printed before the first block. */
  async loadEarlier(): Promise<void> {
    const end = this.#earlierBytes();
    const offset = Math.max(0, end - PIECE_BYTES);
    if (end === 0) return;
    const { bytes } = await this.#task.output({ offset, length: end - offset });
    const skipped = offset === 0 ? 0 : beforeFirstLine(bytes);
    this.#blocks.prepend(new TextDecoder().decode(bytes.subarray(skipped)));
    this.#start = offset + skipped - this.#blocks.droppedBytes;
    this.#show();
  }

  /** All that the server keeps, piece by piece. */
  async *readAll(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let offset = 0; ;) {
      const { bytes, nextOffset } = await this.#task.output({ offset, length: 8 * 1024 * 1024 });
      if (bytes.length === 0) return;
      yield bytes;
      offset = nextOffset;
    }
  }

  async #act(action: () => Promise<void>): Promise<void> {
    await action();
    await this.#readInfo();
  }

  async #readInfo(): Promise<TaskInfo> {
    const info = await this.#task.info();
    this.#info.value = info;
    return info;
  }

  async #follow(stop: AbortSignal): Promise<void> {
    const info = await this.#readInfo();
    if (stop.aborted) return;
    const isReplayed = info.kind === "shell" && info.outputBytes <= MAX_REPLAYED_BYTES;
    await Promise.all([
      this.#followInfo(info, stop),
      isReplayed ? this.#followEvents(info, stop) : this.#followOutput(info, stop),
    ]);
  }

  async #followInfo(first: TaskInfo, stop: AbortSignal): Promise<void> {
    for (let info = first; isActive(info);) {
      await pause(INFO_MS, stop);
      if (stop.aborted) return;
      if (!document.hidden) info = await this.#readInfo();
    }
  }

  async #followEvents(first: TaskInfo, stop: AbortSignal): Promise<void> {
    for (let isOver = false; !isOver;) {
      await untilInFront(stop);
      isOver = await this.#readEvents(stop);
      if (stop.aborted) return;
    }
    // What processes in the background print comes after the last event.
    const info = await this.#readInfo().catch(() => first);
    if (info.background) await this.#followOutput(info, stop, this.#replayed.bytes);
  }

  /**
   * From the beginning, but for what was shown already. Stops where the tab goes to the back, since a browser has few connections for all of
   * its tabs. Resolves to whether there are no more events.
   */
  async #readEvents(stop: AbortSignal): Promise<boolean> {
    const events = this.#task[Symbol.asyncIterator]();
    let isLeft = false;
    const leave = (): void => {
      if (!stop.aborted && !document.hidden) return;
      isLeft = true;
      void events.return?.();
    };
    stop.addEventListener("abort", leave, { once: true });
    document.addEventListener("visibilitychange", leave);
    let skipped = this.#replayed.characters;
    let lost = 0;
    try {
      for await (const event of { [Symbol.asyncIterator]: () => events }) {
        if (event.type === "output-gap") {
          lost += event.omittedBytes;
          this.#lost = Math.max(this.#lost, lost);
        }
        if (event.type !== "output-delta") continue;
        // Neighbouring pieces are joined in what was recorded, so only characters tell how far it was read.
        const text = event.text.slice(Math.min(skipped, event.text.length));
        skipped -= event.text.length - text.length;
        if (text !== "") this.#replay(event.stream, text);
      }
    } finally {
      stop.removeEventListener("abort", leave);
      document.removeEventListener("visibilitychange", leave);
    }
    this.#show();
    return !isLeft;
  }

  #replay(stream: OutputBlock["stream"], text: string): void {
    this.#replayed.characters += text.length;
    this.#replayed.bytes += new TextEncoder().encode(text).length;
    this.#add(stream, text);
  }

  /** `from`: what comes before is shown already. */
  async #followOutput(info: TaskInfo, stop: AbortSignal, from?: number): Promise<void> {
    const decoder = new TextDecoder();
    const { readableBytes } = await this.#task.output({ offset: 0, length: 1 });
    let offset = from ?? Math.max(0, readableBytes - PIECE_BYTES);
    let isFirst = from === undefined;
    for (let isLast = false; ;) {
      // First whether it ended, then what it printed: nothing is missed in between.
      isLast = !isActive(this.#info.value ?? info);
      const slice = await this.#task.output({ offset, length: PIECE_BYTES });
      if (stop.aborted) return;
      const skipped = isFirst && offset > 0 ? beforeFirstLine(slice.bytes) : 0;
      if (isFirst) this.#start = offset + skipped;
      isFirst = false;
      offset = slice.nextOffset;
      this.#lost = slice.totalBytes - slice.readableBytes;
      this.#add("both", decoder.decode(slice.bytes.subarray(skipped), { stream: true }));
      if (slice.bytes.length > 0) continue;
      if (isLast) return;
      await pause(OUTPUT_MS, stop);
    }
  }

  #add(stream: OutputBlock["stream"], text: string): void {
    this.#blocks.append(stream, text);
    this.#flush ??= setTimeout(() => this.#show(), FLUSH_MS);
  }

  #show(): void {
    clearTimeout(this.#flush);
    this.#flush = undefined;
    const { blocks, lineCount } = this.#blocks;
    this.#output.value = { blocks, lineCount, earlierBytes: this.#earlierBytes(), lostBytes: this.#lost };
  }

  /** Exact, but where the command printed what is not UTF-8. */
  #earlierBytes(): number {
    return Math.max(0, this.#start + this.#blocks.droppedBytes);
  }
}

/** More may come. */
function isActive(info: TaskInfo): boolean {
  return !hasEnded(info) || info.background;
}

/** How many bytes come before a line begins, so that no character and no colour is cut. */
function beforeFirstLine(bytes: Uint8Array): number {
  const newline = bytes.indexOf(0x0a);
  if (newline >= 0 && newline < bytes.length - 1) return newline + 1;
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, start);
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

/** Resolves when the tab is in front, or when it is no longer of interest. */
function untilInFront(stop: AbortSignal): Promise<void> {
  if (!document.hidden || stop.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = new AbortController();
    const look = (): void => {
      if (document.hidden && !stop.aborted) return;
      done.abort();
      resolve();
    };
    document.addEventListener("visibilitychange", look, { signal: done.signal });
    stop.addEventListener("abort", look, { signal: done.signal });
  });
}
