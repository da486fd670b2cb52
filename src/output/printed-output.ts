// What one execution or task printed on both of its streams. A log is made when the first byte comes.

import type { OutputStream } from "../protocol/execution.ts";
import { OutputLog, type OutputLimits } from "./output-log.ts";

export class PrintedOutput {
  readonly #limits: OutputLimits;
  #stdout: OutputLog | undefined;
  #stderr: OutputLog | undefined;
  #holders = 1;

  constructor(limits: OutputLimits) {
    this.#limits = limits;
  }

  /** The log of a stream, if anything was printed on it. */
  of(stream: OutputStream): OutputLog | undefined {
    return stream === "stdout" ? this.#stdout : this.#stderr;
  }

  append(stream: OutputStream, chunk: Buffer): OutputLog {
    const log = this.of(stream) ?? this.#open(stream);
    log.append(chunk);
    return log;
  }

  /** How many bytes were printed, on both together. */
  get total(): number {
    return (this.#stdout?.total ?? 0) + (this.#stderr?.total ?? 0);
  }

  /** How many bytes can be read, on both together. */
  get readable(): number {
    return (this.#stdout?.readable ?? 0) + (this.#stderr?.readable ?? 0);
  }

  /** From now on one more has to close it. */
  hold(): void {
    this.#holders += 1;
  }

  /** The last one to close it makes it forget everything but how much it was. */
  close(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#stdout?.close();
    this.#stderr?.close();
  }

  #open(stream: OutputStream): OutputLog {
    const log = new OutputLog(this.#limits);
    if (stream === "stdout") this.#stdout = log;
    else this.#stderr = log;
    return log;
  }
}
