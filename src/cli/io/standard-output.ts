// Standard output and standard error with backpressure.

import type { OutputStream } from "../../protocol/execution.ts";
import { TerminalFilter } from "../../util/text/terminal-text.ts";

export class StandardOutput {
  /** Called once when a stream cannot be written, such as EPIPE when the reader is gone. Later writes to it are dropped. */
  onBroken: (error: NodeJS.ErrnoException) => void = () => {};
  readonly #filters = { stdout: new TerminalFilter(), stderr: new TerminalFilter() };
  readonly #broken = new Set<OutputStream>();

  constructor() {
    for (const stream of ["stdout", "stderr"] as const)
      process[stream].on("error", (error) => this.#break(stream, error));
  }

  isTerminal(stream: OutputStream): boolean {
    return process[stream].isTTY;
  }

  /** Resolves when more may be written. Text for a terminal is made safe; everything else is written unchanged. */
  async write(stream: OutputStream, data: string | Uint8Array): Promise<void> {
    if (this.#broken.has(stream)) return;
    const target = process[stream];
    const safe = typeof data === "string" && target.isTTY ? this.#filters[stream].write(data) : data;
    if (target.write(safe)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        target.off("drain", done).off("close", done).off("error", done);
        resolve();
      };
      target.on("drain", done).on("close", done).on("error", done);
    });
  }

  /** Drops what is not written yet and all later writes. */
  abandon(): void {
    this.#broken.add("stdout").add("stderr");
  }

  /** Resolves when everything is written. */
  async flush(): Promise<void> {
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#broken.has(stream) || process[stream].writableLength === 0) continue;
      await new Promise<void>((resolve) => process[stream].write("", () => resolve()));
    }
  }

  #break(stream: OutputStream, error: Error): void {
    if (this.#broken.has(stream)) return;
    this.#broken.add(stream);
    this.onBroken(error);
  }
}
