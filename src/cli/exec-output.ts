// What a running program prints, passed on as it comes: byte for byte into a file or a pipe, made safe on a terminal.

import type { OutputGap } from "../protocol/events.ts";
import type { ExecutionResult, MimeBundle, OutputStream } from "../protocol/execution.ts";
import type { Execution, Session } from "../runtime.ts";
import { toDisplayText } from "./display-text.ts";
import type { StandardOutput } from "./standard-output.ts";

/** Resolves when everything that was printed has gone out. */
export async function printExecution(session: Session, execution: Execution, output: StandardOutput): Promise<void> {
  const copies = {
    stdout: new Copy(session, execution, "stdout", output),
    stderr: new Copy(session, execution, "stderr", output),
  };
  for await (const event of execution) {
    if (event.type === "output-delta") await copies[event.stream].pass(event.text);
    if (event.type === "output-gap") await output.write("stderr", toNotice(event));
    if (event.type === "display") await printDisplay(event.data, output);
  }
  await copies.stdout.finish();
  await copies.stderr.finish();
}

async function printDisplay(data: MimeBundle, output: StandardOutput): Promise<void> {
  const shown = toDisplayText(data);
  if (shown !== undefined) await output.write(shown.stream, shown.text);
}

function toNotice({ omittedBytes, stream }: OutputGap): string {
  return `rlm: ${omittedBytes} bytes of ${stream} are missing here: more was printed than is kept of one stream\n`;
}

/** What a program that did not end well leaves on stderr, as `python` would. */
export async function printOutcome(result: ExecutionResult, output: StandardOutput): Promise<void> {
  const { error } = result;
  // A program that answers Ctrl-C with sys.exit() was interrupted, and has nothing to complain about.
  if (error !== undefined && error.name !== "SystemExit")
    await output.write("stderr", `${error.traceback.trimEnd()}\n`);
  if (result.status === "interrupted" && result.reason === "timeout") {
    await output.write("stderr", `rlm: stopped at the time limit, after ${(result.durationMs / 1000).toFixed(1)} s\n`);
  }
}

/**
 * One stream on its way out. Text stands for its bytes as long as they are UTF-8. From the first replacement character
 * on they may not be, and the bytes are read from where they are kept.
 */
class Copy {
  readonly #session: Session;
  readonly #execution: Execution;
  readonly #stream: OutputStream;
  readonly #output: StandardOutput;
  #offset = 0;
  #raw = false;

  constructor(session: Session, execution: Execution, stream: OutputStream, output: StandardOutput) {
    this.#session = session;
    this.#execution = execution;
    this.#stream = stream;
    this.#output = output;
  }

  async pass(text: string): Promise<void> {
    if (this.#output.isTerminal(this.#stream)) return this.#output.write(this.#stream, text);
    this.#raw ||= text.includes("\uFFFD");
    if (this.#raw) return this.#passBytes();
    this.#offset += Buffer.byteLength(text);
    await this.#output.write(this.#stream, text);
  }

  async finish(): Promise<void> {
    if (this.#raw) await this.#passBytes();
  }

  async #passBytes(): Promise<void> {
    for (;;) {
      const slice = this.#session.output(this.#execution.id, { stream: this.#stream, offset: this.#offset });
      if (slice === undefined || slice.bytes.length === 0) return;
      this.#offset = slice.nextOffset;
      await this.#output.write(this.#stream, slice.bytes);
    }
  }
}
