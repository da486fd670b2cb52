// The order in which code printed to stdout and stderr, as it is recorded beside the two texts.

import type { ExecutionResult, OutputStream } from "../../protocol/execution.ts";
import type { PrintedPart } from "../../protocol/run-events.ts";

/** Past this many changes of stream the order is not recorded. */
const MAX_PARTS = 10_000;

export class PrintOrder {
  readonly #parts: { stream: OutputStream; characters: number }[] = [];

  add(stream: OutputStream, text: string): void {
    const last = this.#parts.at(-1);
    if (last?.stream === stream) last.characters += text.length;
    else if (this.#parts.length <= MAX_PARTS) this.#parts.push({ stream, characters: text.length });
  }

  /** Undefined: one stream says it all, or the texts of the result are not what was added. */
  of({ stdout, stderr }: Pick<ExecutionResult, "stdout" | "stderr">): readonly PrintedPart[] | undefined {
    if (stdout === "" || stderr === "" || this.#parts.length > MAX_PARTS) return undefined;
    const isWhole = this.#sum("stdout") === stdout.length && this.#sum("stderr") === stderr.length;
    return isWhole ? this.#parts : undefined;
  }

  #sum(wanted: OutputStream): number {
    return this.#parts.reduce((sum, { stream, characters }) => sum + (stream === wanted ? characters : 0), 0);
  }
}
