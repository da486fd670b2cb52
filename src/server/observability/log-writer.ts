// Lines on their way out, a few milliseconds at a time. Nobody waits for whoever reads them: what does not fit or cannot be written is
// dropped, and how much that was is said when there is room again.

/** Where they go: what a stream has, or what can go on after an error. */
export interface LogSink {
  /** False: nothing will be taken any more. */
  readonly writable: boolean;
  /** That waits to be taken. */
  readonly writableLength: number;
  /** An error: nothing of it was taken. */
  write(text: string, done: (error?: Error | null) => void): unknown;
}

const MAX_WAITING_BYTES = 1024 * 1024;
const FLUSH_BYTES = 64 * 1024;
const FLUSH_MS = 50;

export class LogWriter {
  readonly #sink: LogSink;
  /** The line that says how many were dropped. */
  readonly #tellDropped: (count: number) => string;
  #lines: string[] = [];
  #length = 0;
  #dropped = 0;
  /** How many lines those that wait are, or tell of. */
  #meant = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: LogSink, tellDropped: (count: number) => string) {
    this.#sink = sink;
    this.#tellDropped = tellDropped;
  }

  /** One line with its end. */
  write(line: string): void {
    if (this.#sink.writableLength + this.#length + line.length > MAX_WAITING_BYTES) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) this.#add(this.#tellDropped(this.#dropped), this.#dropped);
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
    this.#meant = 0;
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

  #send(): void {
    const meant = this.#meant;
    this.#sink.write(this.#lines.join(""), (error) => {
      if (error instanceof Error) this.#dropped += meant;
    });
  }

  #add(line: string, meant: number): void {
    this.#lines.push(line);
    this.#length += line.length;
    this.#meant += meant;
  }
}
