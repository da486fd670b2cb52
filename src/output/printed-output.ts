// The output of one execution or task on both streams, with a log for each stream that has any. Reference-counted.

import type { Cut, OutputStream } from "../protocol/execution.ts";
import { OutputLog, type OutputLimits } from "./output-log.ts";

const NOTHING = { text: "", cut: null };

/** Output as a result has it. */
export interface OutputSummary {
  readonly stdout: string;
  readonly stderr: string;
  /** Null: nothing was omitted. */
  readonly truncated: { readonly stdout?: Cut; readonly stderr?: Cut } | null;
}

export class PrintedOutput {
  readonly #limits: OutputLimits;
  #stdout: OutputLog | undefined;
  #stderr: OutputLog | undefined;
  #owners = 1;
  #isFinished = false;

  constructor(limits: OutputLimits) {
    this.#limits = limits;
  }

  /** Undefined: nothing was printed on the stream. */
  of(stream: OutputStream): OutputLog | undefined {
    return stream === "stdout" ? this.#stdout : this.#stderr;
  }

  append(stream: OutputStream, chunk: Buffer): OutputLog {
    const log = this.of(stream) ?? this.#open(stream);
    log.append(chunk);
    return log;
  }

  /** Bytes printed on both streams. */
  get total(): number {
    return (this.#stdout?.total ?? 0) + (this.#stderr?.total ?? 0);
  }

  /** Bytes that can be read, on both streams. */
  get readable(): number {
    return (this.#stdout?.readable ?? 0) + (this.#stderr?.readable ?? 0);
  }

  summary(): OutputSummary {
    const { text: stdout, cut: stdoutCut } = this.#stdout?.summary() ?? NOTHING;
    const { text: stderr, cut: stderrCut } = this.#stderr?.summary() ?? NOTHING;
    if (stdoutCut === null && stderrCut === null) return { stdout, stderr, truncated: null };
    const truncated = { ...(stdoutCut && { stdout: stdoutCut }), ...(stderrCut && { stderr: stderrCut }) };
    return { stdout, stderr, truncated };
  }

  /** No more is expected: others may get the space that it takes on disk. */
  finish(): void {
    this.#isFinished = true;
    this.#stdout?.finish();
    this.#stderr?.finish();
  }

  /** Adds an owner, which must call `close`. */
  hold(): void {
    this.#owners += 1;
  }

  /** The last owner to close it drops everything but the totals. */
  close(): void {
    this.#owners -= 1;
    if (this.#owners > 0) return;
    this.#stdout?.close();
    this.#stderr?.close();
  }

  #open(stream: OutputStream): OutputLog {
    const log = new OutputLog(this.#limits);
    if (this.#isFinished) log.finish();
    if (stream === "stdout") this.#stdout = log;
    else this.#stderr = log;
    return log;
  }
}
