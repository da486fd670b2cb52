// Forwards the output of an execution on a server as it is printed: byte for byte to a file or a pipe, made safe on a terminal.
//
// Each stream has its own pace: a reader that takes nothing of one does not hold up the other. Only little is stored for it. The rest is
// read from the recorded output when the reader goes on.

import { setTimeout } from "node:timers/promises";
import type { DisplayPart } from "../../protocol/events.ts";
import type { ExecutionResult, OutputStream } from "../../protocol/execution.ts";
import { toDisplayText } from "./display-text.ts";
import type { StandardOutput } from "../io/standard-output.ts";

/** The recorded output of a stream from a byte offset; empty at its end. */
export type ReadOutput = (stream: OutputStream, offset: number) => Promise<OutputPart>;

interface OutputPart {
  readonly bytes: Uint8Array;
  readonly nextOffset: number;
}

/** The events of executions and tasks, as far as they are printed. */
type PrintedEvent =
  | { readonly type: "output-delta"; readonly stream: OutputStream; readonly text: string }
  | { readonly type: "output-gap"; readonly stream: OutputStream; readonly omittedBytes: number }
  | { readonly type: "display"; readonly data: DisplayPart["data"] };

/** After its end: how long what comes next on stderr waits for the reader of stdout, so that it usually comes after its output. */
const PATIENCE_MS = 1_000;

/** `onEnd` is called when all events were received, before a slow reader has taken everything. Resolves when all output is written. */
export async function printExecution(
  events: AsyncIterable<PrintedEvent | { readonly type: string }>,
  read: ReadOutput,
  output: StandardOutput,
  onEnd: () => void = () => {},
): Promise<void> {
  const copies = { stdout: new Copy("stdout", read, output), stderr: new Copy("stderr", read, output) };
  for await (const event of events) {
    if (!isPrinted(event)) continue;
    if (event.type === "output-delta") copies[event.stream].push(event.text);
    else if (event.type === "output-gap") void output.push("stderr", toNotice(event));
    else await printDisplay(event, output);
  }
  const finished = Promise.all([copies.stdout.finish(), copies.stderr.finish()]);
  await Promise.race([finished, setTimeout(PATIENCE_MS, undefined, { ref: false })]);
  onEnd();
  await finished;
}

function isPrinted(event: { readonly type: string }): event is PrintedEvent {
  return event.type === "output-delta" || event.type === "output-gap" || event.type === "display";
}

async function printDisplay({ data }: Pick<DisplayPart, "data">, output: StandardOutput): Promise<void> {
  const shown = toDisplayText(data);
  if (shown !== undefined) await output.write(shown.stream, shown.text);
}

function toNotice({ omittedBytes, stream }: Extract<PrintedEvent, { type: "output-gap" }>): string {
  return `rlm: ${omittedBytes} bytes of ${stream} are missing here: more was printed than is kept of one stream\n`;
}

/** Prints why a program failed on stderr, as `python` would. Does not wait for its reader. */
export function printOutcome(result: ExecutionResult, output: StandardOutput): void {
  const { error } = result;
  // A program that handles Ctrl-C with sys.exit() was interrupted; its SystemExit is not an error.
  if (error !== undefined && error.name !== "SystemExit") {
    void output.push("stderr", `${error.traceback.trimEnd()}\n`);
  }
  if (result.status === "interrupted" && result.reason === "timeout") {
    void output.push("stderr", `rlm: stopped at the time limit, after ${(result.durationMs / 1000).toFixed(1)} s\n`);
  }
}

/** What is stored for a reader that is slower than the events. */
const MAX_PENDING_BYTES = 1024 * 1024;

/**
 * Copies one stream. Text equals its bytes while they are UTF-8. From the first replacement character on they may not be, so the bytes are
 * read from the recorded output instead; so is everything that came while too much was pending.
 */
class Copy {
  readonly #stream: OutputStream;
  readonly #read: ReadOutput;
  readonly #output: StandardOutput;
  readonly #pending: string[] = [];
  #pendingBytes = 0;
  /** Where the text that was taken from events ends. */
  #offset = 0;
  /** From here on the recorded output is read. */
  #isRecorded = false;
  /** Something was printed that was not read from the recorded output. */
  #hasMore = false;
  /** Undefined: everything is written. */
  #writing: Promise<void> | undefined;

  constructor(stream: OutputStream, read: ReadOutput, output: StandardOutput) {
    this.#stream = stream;
    this.#read = read;
    this.#output = output;
  }

  push(text: string): void {
    const bytes = Buffer.byteLength(text);
    const isText = this.#output.isTerminal(this.#stream) || !text.includes("\uFFFD");
    this.#isRecorded ||= !isText || this.#pendingBytes + bytes > MAX_PENDING_BYTES;
    if (this.#isRecorded) this.#hasMore = true;
    else {
      this.#offset += bytes;
      if (this.#writing === undefined) {
        // At once, so that the order on a terminal is that of the events.
        const waiting = this.#output.push(this.#stream, text);
        if (waiting === undefined) return;
        this.#start(waiting);
        return;
      }
      this.#pending.push(text);
      this.#pendingBytes += bytes;
    }
    if (this.#writing === undefined) this.#start(Promise.resolve());
  }

  /** Resolves when everything is written. Throws what reading the recorded output threw. */
  async finish(): Promise<void> {
    await this.#writing;
  }

  #start(before: Promise<void>): void {
    this.#writing = this.#write(before);
    this.#writing.catch(() => {}); // `finish` throws it
  }

  async #write(before: Promise<void>): Promise<void> {
    await before;
    for (;;) {
      const text = this.#pending.splice(0).join("");
      this.#pendingBytes = 0;
      if (text !== "") await this.#output.write(this.#stream, text);
      else if (this.#hasMore) await this.#writeRecorded();
      else break;
    }
    this.#writing = undefined;
  }

  async #writeRecorded(): Promise<void> {
    this.#hasMore = false;
    for (;;) {
      const { bytes, nextOffset } = await this.#read(this.#stream, this.#offset);
      if (bytes.length === 0) return;
      this.#offset = nextOffset;
      await this.#output.write(this.#stream, bytes);
    }
  }
}
