// Standard output and standard error, written at the pace of whoever reads them.

import type { OutputStream } from "../../protocol/execution.ts";
import { TerminalFilter } from "../../util/text/terminal-text.ts";

export class StandardOutput {
  /** Called once when a stream cannot be written: nobody reads it (EPIPE), or worse. Later writes to it go nowhere. */
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

  /** Resolves when more may be written. Text for a terminal is made safe; bytes and other text go out as they are. */
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

  /** What has not gone out yet, and all that follows, is dropped. */
  abandon(): void {
    this.#broken.add("stdout").add("stderr");
  }

  /** Resolves when everything has gone out. */
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
