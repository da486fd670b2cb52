// Lines on their way out, a few milliseconds at a time. Nobody waits for whoever reads them: what does not fit is dropped, and how much
// that was is said when there is room again.

import type { Writable } from "node:stream";

const MAX_WAITING_BYTES = 1024 * 1024;
const FLUSH_BYTES = 64 * 1024;
const FLUSH_MS = 50;

export class LogWriter {
  readonly #sink: Writable;
  /** The line that says how many were dropped. */
  readonly #tellDropped: (count: number) => string;
  #lines: string[] = [];
  #length = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: Writable, tellDropped: (count: number) => string) {
    this.#sink = sink;
    this.#tellDropped = tellDropped;
  }

  /** One line with its end. */
  write(line: string): void {
    if (this.#sink.writableLength + this.#length + line.length > MAX_WAITING_BYTES) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) this.#add(this.#tellDropped(this.#dropped));
    this.#dropped = 0;
    this.#add(line);
    if (this.#length > FLUSH_BYTES) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length > 0 && this.#sink.writable) this.#sink.write(this.#lines.join(""));
    this.#lines = [];
    this.#length = 0;
  }

  /** Resolves when all is taken, or after so long. */
  async end(limitMs: number): Promise<void> {
    this.flush();
    if (this.#sink.writableLength === 0 || !this.#sink.writable) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
      this.#sink.write("", () => resolve());
    });
    clearTimeout(timer);
  }

  #add(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
  }
}
