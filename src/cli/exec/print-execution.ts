// Forwards the output of an execution as it is printed: byte for byte to a file or a pipe, made safe on a terminal.

import type { ExecutionEvent, OutputGap } from "../../protocol/events.ts";
import type { ExecutionResult, OutputStream } from "../../protocol/execution.ts";
import { toDisplayText } from "./display-text.ts";
import type { StandardOutput } from "../io/standard-output.ts";

/** The output of a stream from a byte offset; undefined or empty at its end. */
export type ReadOutput = (
  stream: OutputStream,
  offset: number,
) => OutputPart | undefined | Promise<OutputPart | undefined>;

interface OutputPart {
  readonly bytes: Uint8Array;
  readonly nextOffset: number;
}

/** Resolves when all output has been written. */
export async function printExecution(
  events: AsyncIterable<ExecutionEvent>,
  read: ReadOutput,
  output: StandardOutput,
): Promise<void> {
  const copies = { stdout: new Copy("stdout", read, output), stderr: new Copy("stderr", read, output) };
  for await (const event of events) {
    if (event.type === "output-delta") await copies[event.stream].write(event.text);
    if (event.type === "output-gap") await output.write("stderr", toNotice(event));
    const shown = event.type === "display" ? toDisplayText(event.data) : undefined;
    if (shown !== undefined) await output.write(shown.stream, shown.text);
  }
  await copies.stdout.finish();
  await copies.stderr.finish();
}

function toNotice({ omittedBytes, stream }: OutputGap): string {
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

/**
 * Copies one stream. Text equals its bytes while they are UTF-8. From the first replacement character on they may not be,
 * so the bytes are read from the recorded output instead.
 */
class Copy {
  readonly #stream: OutputStream;
  readonly #read: ReadOutput;
  readonly #output: StandardOutput;
  #offset = 0;
  #raw = false;

  constructor(stream: OutputStream, read: ReadOutput, output: StandardOutput) {
    this.#stream = stream;
    this.#read = read;
    this.#output = output;
  }

  async write(text: string): Promise<void> {
    if (this.#output.isTerminal(this.#stream)) return this.#output.write(this.#stream, text);
    this.#raw ||= text.includes("\uFFFD");
    if (this.#raw) return this.#writeBytes();
    this.#offset += Buffer.byteLength(text);
    await this.#output.write(this.#stream, text);
  }

  async finish(): Promise<void> {
    if (this.#raw) await this.#writeBytes();
  }

  async #writeBytes(): Promise<void> {
    for (;;) {
      const slice = await this.#read(this.#stream, this.#offset);
      if (slice === undefined || slice.bytes.length === 0) return;
      this.#offset = slice.nextOffset;
      await this.#output.write(this.#stream, slice.bytes);
    }
  }
}
