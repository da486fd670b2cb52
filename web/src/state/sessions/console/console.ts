// The console of one session: its cells, live and from its history, and what happened to the namespace between them.
//
// Events change models at once, and signals once for each frame, so that a flood of output costs the page one drawing for each. What ran
// before the page was opened is listed at once and read when it comes into view.

import { signal, type ReadonlySignal } from "@preact/signals";
import {
  ExecutionNotFoundError,
  type ExecutionResult,
  type MimeBundle,
  type OutputStream,
  type Result,
  type Runtime,
  type Session,
  type SessionEvent,
} from "rlm-runtime/client";
import { CellModel, cellOfHistory, type Cell, type CellInput } from "./cell.ts";
import { OutputItems, type OutputItem } from "./output-items.ts";
import { SlotQueue } from "../slot-queue.ts";

type ResetReason = Extract<SessionEvent, { readonly type: "session-reset" }>["why"];

/** `mark`: the namespace was replaced here. */
export type ConsoleItem =
  | { readonly kind: "cell"; readonly key: string; readonly cell: Cell }
  | { readonly kind: "mark"; readonly key: string; readonly why: ResetReason; readonly time: number };

/** The id of a cell, or a mark. */
type Entry = string | Extract<ConsoleItem, { readonly kind: "mark" }>;

/** Of a cell that is read again, before the rest is asked for by range. */
const MAX_REPLAYED = 300_000;
const LOAD_BYTES = 256 * 1024;
/** Of long output that is read again. */
const END_BYTES = 32 * 1024;
/** Cells of the history that are read at a time: a browser has few connections to a server. */
const READERS = 2;
const MAX_ITEMS = 2_000;
/** Characters of the displays of all cells. */
const MAX_DISPLAYED = 64_000_000;

/** When to draw. */
export interface FrameRequests {
  /** Requests until it is called are one. */
  request(draw: () => void): void;
}

export class Console {
  readonly #items = signal<readonly ConsoleItem[]>([]);
  readonly #background = signal<readonly OutputItem[]>([]);
  readonly #session: Session;
  readonly #runtime: Runtime;
  readonly #frames: FrameRequests;
  readonly #readers = new SlotQueue(READERS);
  readonly #models = new Map<string, CellModel>();
  #order: Entry[] = [];
  #backgroundOutput = new OutputItems();
  #reading = new Set<string>();
  #isClosed = false;

  constructor(runtime: Runtime, session: Session, frames: FrameRequests) {
    this.#runtime = runtime;
    this.#frames = frames;
    this.#session = session;
  }

  get items(): ReadonlySignal<readonly ConsoleItem[]> {
    return this.#items;
  }

  /** Printed by threads and children after their executions had ended. */
  get background(): ReadonlySignal<readonly OutputItem[]> {
    return this.#background;
  }

  /** The code of the cells, the oldest first. */
  get codes(): readonly string[] {
    return this.#items.value.flatMap((item) => (item.kind === "cell" && !item.cell.isCodeCut ? [item.cell.code] : []));
  }

  /** Lists what ran before. `head`: the last execution whose effects the state has. Called once, after listening has begun. */
  async readHistory(head: number | undefined): Promise<void> {
    const entries = await this.#session.history();
    const missed: Entry[] = [];
    for (const [place, entry] of entries.entries()) {
      const before = entries[place - 1];
      if (before !== undefined && before.executionCount !== entry.parent)
        missed.push(rewoundAt(`before ${entry.executionCount}`, entry.startedAt));
      if (this.#models.has(entry.executionId)) continue;
      this.#models.set(entry.executionId, cellOfHistory(entry));
      missed.push(entry.executionId);
    }
    const last = entries.at(-1);
    const isBack = last !== undefined && head !== undefined && last.status !== null && head < last.executionCount;
    if (isBack && this.#order.length === 0) missed.push(rewoundAt(`after ${last.executionCount}`, last.startedAt));
    this.#order = [...missed, ...this.#order];
    this.#publish();
  }

  receive(event: SessionEvent): void {
    if ("executionId" in event) this.#receiveOf(event);
    else if (event.type === "background-delta") this.#backgroundOutput.print(event.stream, event.text);
    else if (event.type === "session-reset") {
      const { why, time, epoch } = event;
      this.#append({ kind: "mark", key: `epoch-${epoch}`, why, time });
    } else if (event.type === "session-end") this.#endAll("The session ended");
    this.#publish();
  }

  /** Runs code. It has no time limit: the reader sees it run, and can interrupt it. */
  run(code: string): string {
    const execution = this.#session.execute(code, { onInput: "ask", timeoutMs: null });
    const { id } = execution;
    this.#add(new CellModel(id, { code }));
    // Reading its output waits until the session has taken it, and rejects if it did not. Awaiting it would hold a connection.
    execution.output({ length: 1 }).catch((error: unknown) => {
      const model = this.#models.get(id);
      if (model?.cell.state !== "waiting") return;
      model.set({ state: "refused", problem: error instanceof Error ? error.message : String(error) });
      this.#publish();
    });
    this.#publish();
    return id;
  }

  /** Stops it, or takes it out of the queue. */
  async cancel(id: string): Promise<void> {
    await this.#runtime.executions.get(id).cancel();
  }

  /** False: somebody else has answered. */
  async answer(id: string, { call, isPassword }: CellInput, line: string | null): Promise<boolean> {
    const isTaken = await this.#runtime.executions.get(id).answer(line, { call });
    if (isTaken && line !== null && !isPassword) {
      this.#models.get(id)?.noteAnswer(call, line);
      this.#publish();
    }
    return isTaken;
  }

  /** Reads what a cell of the history printed, when it comes into view. */
  read(id: string): void {
    const model = this.#models.get(id);
    if (model === undefined || !model.isOver || model.cell.loaded !== "none" || this.#reading.has(id)) return;
    this.#reading.add(id);
    void this.#readers.run(() => this.#read(id)).finally(() => this.#reading.delete(id));
  }

  /** Reads more of what was printed between the beginning and the end. */
  async readGap(id: string): Promise<void> {
    const output = this.#models.get(id)?.output;
    const missing = output?.missing;
    if (output === undefined || missing === undefined) return;
    try {
      const length = Math.min(LOAD_BYTES, missing.bytes);
      const { bytes } = await this.#session.output(id, { offset: missing.offset, length });
      if (bytes.length === 0) output.abandonGap();
      else output.fill(bytes);
    } catch (error) {
      if (!(error instanceof ExecutionNotFoundError)) throw error;
      output.abandonGap();
    }
    this.#touch(id);
  }

  /** All that is kept of what it printed, in pieces. */
  async *outputOf(id: string): AsyncGenerator<Uint8Array, void, undefined> {
    let offset = 0;
    for (;;) {
      const slice = await this.#session.output(id, { offset, length: 16 * LOAD_BYTES });
      if (slice.bytes.length === 0) return;
      yield slice.bytes;
      offset = slice.nextOffset;
    }
  }

  clearBackground(): void {
    this.#backgroundOutput = new OutputItems();
    this.#publish();
  }

  close(): void {
    this.#isClosed = true;
  }

  #receiveOf(event: Extract<SessionEvent, { readonly executionId: string }>): void {
    const { executionId } = event;
    let model = this.#models.get(executionId);
    if (model === undefined) {
      model = new CellModel(executionId, { code: "code" in event ? event.code : "" });
      this.#add(model);
    }
    // The events of a cell that is listed from the history are complete from here on.
    if (model.cell.loaded === "none" && event.type === "execution-start") model.set({ loaded: "all" });
    if (event.type === "execution-start") this.#moveToEndOfStarted(executionId);
    const isApplied = model.apply(event);
    if (event.type !== "display") return;
    if (!isApplied && event.displayId !== undefined) this.#updateEarlier(event.data, event.displayId);
    this.#limitDisplays();
  }

  #updateEarlier(data: MimeBundle, displayId: string): void {
    for (const { output } of this.#models.values()) if (output.update(data, displayId)) return;
  }

  /** The displays of the oldest cells make room. */
  #limitDisplays(): void {
    let sum = 0;
    for (const { output } of this.#models.values()) sum += output.displayed;
    for (const { output } of [...this.#models.values()].slice(0, -1)) {
      if (sum <= MAX_DISPLAYED) return;
      sum -= output.displayed;
      output.dropDisplays();
    }
  }

  /** Cells are in the order in which they began. Those that wait come last. */
  #moveToEndOfStarted(id: string): void {
    const isWaiting = (item: Entry): boolean =>
      typeof item === "string" && item !== id && this.#models.get(item)?.cell.state === "waiting";
    const first = this.#order.findIndex(isWaiting);
    const at = this.#order.indexOf(id);
    if (first === -1 || at < first) return;
    this.#order.splice(at, 1);
    this.#order.splice(first, 0, id);
  }

  async #read(id: string): Promise<void> {
    const listed = this.#models.get(id)?.cell;
    if (listed === undefined || this.#isClosed) return;
    const model = new CellModel(id, { code: listed.code, count: listed.count, startedAt: listed.startedAt });
    const execution = this.#runtime.executions.get(id);
    let printed = 0;
    const lost = { stdout: 0, stderr: 0 };
    try {
      for await (const event of execution) {
        if (event.type === "output-gap") lost[event.stream] += event.omittedBytes;
        else if (event.type === "execution-end") printLost(model, lost, event.result);
        if (event.type !== "output-gap") model.apply(event);
        if (event.type === "output-delta") printed += event.text.length;
        if (printed > MAX_REPLAYED) break;
      }
      if (!model.isOver) await this.#skipToEnd(model, await execution);
    } catch (error) {
      if (!(error instanceof ExecutionNotFoundError)) throw error;
      this.#models.get(id)?.set({ loaded: "gone" });
      return this.#publish();
    }
    if (this.#models.get(id)?.cell.loaded === "none") this.#models.set(id, model);
    this.#limitDisplays();
    this.#publish();
  }

  /** After the beginning of long output: its end, and what was displayed. */
  async #skipToEnd(model: CellModel, result: Result): Promise<void> {
    const { totalBytes, readableBytes } = await this.#session.output(model.id, { length: 1 });
    const offset = Math.max(0, Math.min(totalBytes, readableBytes) - END_BYTES);
    const { bytes } = await this.#session.output(model.id, { offset, length: END_BYTES });
    model.output.clearDisplays();
    model.output.replaceEnd(bytes, offset);
    if (totalBytes > readableBytes) model.output.lose(totalBytes - readableBytes);
    for (const bundle of result.displays) model.output.display(bundle, undefined);
    model.end(result);
  }

  #add(model: CellModel): void {
    this.#models.set(model.id, model);
    this.#append(model.id);
  }

  #append(entry: Entry): void {
    this.#order.push(entry);
    for (const oldest of this.#order.splice(0, this.#order.length - MAX_ITEMS))
      if (typeof oldest === "string") this.#models.delete(oldest);
  }

  #endAll(problem: string): void {
    for (const model of this.#models.values()) {
      if (!model.isOver) model.set({ state: "lost", problem, input: null, call: null });
    }
  }

  /** What a model has outside of its facts has changed. */
  #touch(id: string): void {
    this.#models.get(id)?.set({});
    this.#publish();
  }

  #publish(): void {
    this.#frames.request(() => {
      if (this.#isClosed) return;
      const last = new Map(this.#items.value.map((item) => [item.key, item]));
      this.#items.value = this.#order.flatMap((entry) => this.#toItem(entry, last));
      this.#background.value = this.#backgroundOutput.items;
    });
  }

  /** The same object where nothing changed. */
  #toItem(entry: Entry, last: ReadonlyMap<string, ConsoleItem>): ConsoleItem[] {
    if (typeof entry !== "string") return [entry];
    const cell = this.#models.get(entry)?.cell;
    if (cell === undefined) return [];
    const before = last.get(entry);
    return before?.kind === "cell" && before.cell === cell ? [before] : [{ kind: "cell", key: entry, cell }];
  }
}

/** Logs of older executions are dropped before their results, which still have the beginning and the end of the text. */
function printLost({ output }: CellModel, lost: Readonly<Record<OutputStream, number>>, result: ExecutionResult): void {
  for (const stream of ["stdout", "stderr"] as const) {
    if (lost[stream] === 0) continue;
    const isInResult = output.items.every((item) => item.kind !== "text" || item.stream !== stream);
    if (isInResult) output.print(stream, result[stream]);
    const bytes = isInResult ? (result.truncated?.[stream]?.omitted ?? 0) : lost[stream];
    if (bytes > 0) output.lose(bytes);
  }
}

/** Where the history goes back: it does not say when that was. */
function rewoundAt(place: string, startedAt: string): Extract<ConsoleItem, { readonly kind: "mark" }> {
  return { kind: "mark", key: `rewound ${place}`, why: "rewound", time: Date.parse(startedAt) };
}
