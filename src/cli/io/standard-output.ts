// Standard output and standard error with backpressure.
//
// Where both are one terminal, file or pipe, both are written to standard output, so that they keep their order.

import { setTimeout } from "node:timers/promises";
import type { OutputStream } from "../../protocol/execution.ts";
import { TerminalFilter } from "../../util/text/terminal-text.ts";
import { isOneOutput } from "./is-one-output.ts";

const STREAMS = ["stdout", "stderr"] as const;

export class StandardOutput {
  /** Called once when a stream cannot be written, such as EPIPE when the reader is gone. Later writes to it are dropped. */
  onBroken: (error: NodeJS.ErrnoException) => void = () => {};
  readonly #filters = { stdout: new TerminalFilter(), stderr: new TerminalFilter() };
  readonly #broken = new Set<OutputStream>();
  readonly #draining: Partial<Record<OutputStream, Promise<void> | undefined>> = {};
  readonly isOnePlace = isOneOutput();

  constructor() {
    for (const stream of STREAMS) process[stream].on("error", (error) => this.#break(stream, error));
  }

  isTerminal(stream: OutputStream): boolean {
    return process[stream].isTTY;
  }

  /** Resolves when more may be written. Text for a terminal is made safe; everything else is written unchanged. */
  async write(stream: OutputStream, data: string | Uint8Array): Promise<void> {
    await this.push(stream, data);
  }

  /** The same, but undefined when more may be written at once. */
  push(stream: OutputStream, data: string | Uint8Array): Promise<void> | undefined {
    const place = this.isOnePlace ? "stdout" : stream;
    if (this.#broken.has(place)) return undefined;
    const target = process[place];
    const safe = typeof data === "string" && target.isTTY ? this.#filters[stream].write(data) : data;
    if (target.write(safe) || target.writableLength === 0) return undefined;
    return (this.#draining[place] ??= this.#untilDrained(place));
  }

  /** Drops what is not written yet and all later writes. */
  abandon(): void {
    this.#broken.add("stdout").add("stderr");
  }

  /** Resolves to 0 when everything is written, or to what is left once the readers have taken nothing for so long. */
  async flush(stalledMs = Infinity): Promise<number> {
    const written = Promise.all(STREAMS.map((stream) => this.#untilWritten(stream)));
    if (stalledMs === Infinity) await written;
    for (let before = Infinity; this.#unread() > 0 && this.#unread() < before;) {
      before = this.#unread();
      await Promise.race([written, setTimeout(stalledMs, undefined, { ref: false })]);
    }
    return this.#unread();
  }

  async #untilWritten(stream: OutputStream): Promise<void> {
    if (this.#broken.has(stream) || process[stream].writableLength === 0) return;
    await new Promise<void>((resolve) => process[stream].write("", () => resolve()));
  }

  #unread(): number {
    return STREAMS.reduce((sum, stream) => sum + (this.#broken.has(stream) ? 0 : process[stream].writableLength), 0);
  }

  async #untilDrained(stream: OutputStream): Promise<void> {
    const target = process[stream];
    await new Promise<void>((resolve) => {
      const done = (): void => {
        target.off("drain", done).off("close", done).off("error", done);
        resolve();
      };
      target.on("drain", done).on("close", done).on("error", done);
    });
    this.#draining[stream] = undefined;
  }

  #break(stream: OutputStream, error: Error): void {
    if (this.#broken.has(stream)) return;
    this.#broken.add(stream);
    this.onBroken(error);
  }
}
