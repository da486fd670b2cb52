// The last executions of a session and their output.

import type { ExecutionStatus, HistoryEntry } from "../../protocol/execution.ts";
import type { ExecutionId } from "../../protocol/ids.ts";
import type { PrintedOutput } from "../../output/printed-output.ts";
import { detachedPrefix } from "../../util/text/detached-prefix.ts";
import type { Execution } from "./execution.ts";

const MAX_ENTRIES = 1000;
const MAX_CODE = 10_000;
/** How many outputs stay readable by offset... */
const MAX_LOGS = 32;
/** ...and how large they may be together. */
const MAX_LOG_BYTES = 512 * 1024 * 1024;

interface Entry extends Omit<HistoryEntry, "startedAt" | "status" | "durationMs"> {
  readonly startedAt: number;
  status: ExecutionStatus | null;
  durationMs: number | null;
}

export class History {
  #entries: Entry[] = [];
  /** Readable outputs, oldest first. */
  readonly #outputs: { readonly id: ExecutionId; readonly output: PrintedOutput; bytes: number }[] = [];
  #printedBytes = 0;

  begin(execution: Execution, startedAt: number): void {
    this.#entries.push({
      executionId: execution.id,
      executionCount: execution.count,
      code: detachedPrefix(execution.code, MAX_CODE),
      startedAt,
      status: null,
      durationMs: null,
    });
    if (this.#entries.length > MAX_ENTRIES * 2) this.#entries = this.#entries.slice(-MAX_ENTRIES);
    this.#outputs.push({ id: execution.id, output: execution.printed, bytes: 0 });
  }

  end(execution: Execution, status: ExecutionStatus, durationMs: number): void {
    const last = this.#entries.at(-1);
    if (last?.executionId === execution.id) {
      last.status = status;
      last.durationMs = durationMs;
    }
    const ended = this.#outputs.findLast(({ id }) => id === execution.id);
    if (ended !== undefined) this.#printedBytes += ended.bytes = execution.printed.readable;
    while (this.#isOverLimit()) this.#dropOldest();
  }

  entries(): readonly HistoryEntry[] {
    const last = this.#entries.slice(-MAX_ENTRIES);
    return last.map(({ startedAt, ...entry }) => ({ ...entry, startedAt: new Date(startedAt).toISOString() }));
  }

  /** Undefined: it is no longer kept. */
  output(id: string): PrintedOutput | undefined {
    return this.#outputs.find((entry) => entry.id === id)?.output;
  }

  clear(): void {
    this.#entries = [];
    for (const { output } of this.#outputs.splice(0)) output.close();
    this.#printedBytes = 0;
  }

  /** The last one is always kept. */
  #isOverLimit(): boolean {
    const count = this.#outputs.length;
    return count > MAX_LOGS || (this.#printedBytes > MAX_LOG_BYTES && count > 1);
  }

  #dropOldest(): void {
    const oldest = this.#outputs.shift();
    if (oldest === undefined) return;
    this.#printedBytes -= oldest.bytes;
    oldest.output.close();
  }
}
