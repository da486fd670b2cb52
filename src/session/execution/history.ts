// What was run in a session, and what it printed: the last ones only.

import type { ExecutionStatus, HistoryEntry } from "../../protocol/execution.ts";
import type { ExecutionId } from "../../protocol/ids.ts";
import type { PrintedOutput } from "../../output/printed-output.ts";
import type { Execution } from "./execution.ts";

const MAX_ENTRIES = 1000;
const MAX_CODE = 10_000;
/** Of so many executions the output can still be read by offset... */
const MAX_LOGS = 32;
/** ...as long as they printed no more than this together. */
const MAX_LOG_BYTES = 512 * 1024 * 1024;

interface Entry {
  readonly executionId: ExecutionId;
  readonly executionCount: number;
  readonly code: string;
  readonly startedAt: number;
  status: ExecutionStatus | null;
  durationMs: number | null;
}

export class History {
  #entries: Entry[] = [];
  /** Those whose output can be read, oldest first. */
  readonly #outputs: { readonly id: ExecutionId; readonly output: PrintedOutput }[] = [];
  #printedBytes = 0;

  begin(execution: Execution, startedAt: number): void {
    this.#entries.push({
      executionId: execution.id,
      executionCount: execution.count,
      code: toExcerpt(execution.code),
      startedAt,
      status: null,
      durationMs: null,
    });
    if (this.#entries.length > MAX_ENTRIES * 2) this.#entries = this.#entries.slice(-MAX_ENTRIES);
    this.#outputs.push({ id: execution.id, output: execution.printed });
  }

  end(execution: Execution, status: ExecutionStatus, durationMs: number): void {
    const last = this.#entries.at(-1);
    if (last?.executionId === execution.id) {
      last.status = status;
      last.durationMs = durationMs;
    }
    this.#printedBytes += execution.printed.readable;
    while (this.#hasTooMuch()) this.#forgetOldest();
  }

  entries(): readonly HistoryEntry[] {
    const last = this.#entries.slice(-MAX_ENTRIES);
    return last.map(({ startedAt, ...entry }) => ({ ...entry, startedAt: new Date(startedAt).toISOString() }));
  }

  /** What an execution printed; undefined once it is forgotten. */
  output(id: string): PrintedOutput | undefined {
    return this.#outputs.find((entry) => entry.id === id)?.output;
  }

  clear(): void {
    this.#entries = [];
    for (const { output } of this.#outputs.splice(0)) output.close();
    this.#printedBytes = 0;
  }

  /** The last one is always kept. */
  #hasTooMuch(): boolean {
    const count = this.#outputs.length;
    return count > MAX_LOGS || (this.#printedBytes > MAX_LOG_BYTES && count > 1);
  }

  #forgetOldest(): void {
    const oldest = this.#outputs.shift();
    if (oldest === undefined) return;
    this.#printedBytes -= oldest.output.readable;
    oldest.output.close();
  }
}

/** A copy where the code is long: a slice would keep all of it alive. */
function toExcerpt(code: string): string {
  return code.length <= MAX_CODE ? code : Buffer.from(code.slice(0, MAX_CODE), "utf16le").toString("utf16le");
}
