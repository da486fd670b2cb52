// Writes log lines in batches and never blocks: lines that do not fit into the buffer or cannot be written are dropped, and their number
// is logged when there is space again.

import { withTimeout } from "../../util/async/with-timeout.ts";

/** A writable stream, or something like it that survives errors. */
export interface LogSink {
  /** False: it accepts nothing any more. */
  readonly writable: boolean;
  /** Buffered bytes. */
  readonly writableLength: number;
  /** On an error, nothing of the text was written. */
  write(text: string, done: (error?: Error | null) => void): unknown;
}

const MAX_BUFFERED_BYTES = 1024 * 1024;
const FLUSH_BYTES = 64 * 1024;
const FLUSH_MS = 50;

export class LogWriter {
  readonly #sink: LogSink;
  readonly #toDroppedLine: (count: number) => string;
  #lines: string[] = [];
  #length = 0;
  #dropped = 0;
  /** Lines that are lost if the buffer is: its own, and those whose loss it reports. */
  #pending = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: LogSink, toDroppedLine: (count: number) => string) {
    this.#sink = sink;
    this.#toDroppedLine = toDroppedLine;
  }

  /** A line with its newline. */
  write(line: string): void {
    if (this.#sink.writableLength + this.#length + line.length > MAX_BUFFERED_BYTES) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) this.#add(this.#toDroppedLine(this.#dropped), this.#dropped);
    this.#dropped = 0;
    this.#add(line, 1);
    if (this.#length > FLUSH_BYTES) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length > 0 && this.#sink.writable) this.#send();
    this.#lines = [];
    this.#length = 0;
    this.#pending = 0;
  }

  /** Resolves when everything is written, or after the limit. */
  async end(limitMs: number): Promise<void> {
    this.flush();
    if (this.#sink.writableLength === 0 || !this.#sink.writable) return;
    await withTimeout(limitMs, new Promise<void>((resolve) => void this.#sink.write("", () => resolve())));
  }

  #send(): void {
    const pending = this.#pending;
    this.#sink.write(this.#lines.join(""), (error) => {
      if (error instanceof Error) this.#dropped += pending;
    });
  }

  #add(line: string, pending: number): void {
    this.#lines.push(line);
    this.#length += line.length;
    this.#pending += pending;
  }
}
