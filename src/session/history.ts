// What was run in a session, and what it printed: the last ones only.

import type { ExecutionStatus } from "../protocol/execution.ts";
import type { ExecutionId } from "../protocol/ids.ts";
import type { Execution } from "./execution.ts";

export interface HistoryEntry {
  readonly executionId: ExecutionId;
  readonly executionCount: number;
  /** The first characters of the code. */
  readonly code: string;
  readonly startedAt: string;
  /** Null while it runs. */
  readonly status: ExecutionStatus | null;
  readonly durationMs: number | null;
}

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
  readonly #executions: Execution[] = [];
  #printedBytes = 0;

  begin(execution: Execution, startedAt: number): void {
    this.#entries.push({
      executionId: execution.id,
      executionCount: execution.count,
      code: execution.code.slice(0, MAX_CODE),
      startedAt,
      status: null,
      durationMs: null,
    });
    if (this.#entries.length > MAX_ENTRIES * 2) this.#entries = this.#entries.slice(-MAX_ENTRIES);
    this.#executions.push(execution);
  }

  end(execution: Execution, status: ExecutionStatus, durationMs: number): void {
    const last = this.#entries.at(-1);
    if (last?.executionId === execution.id) {
      last.status = status;
      last.durationMs = durationMs;
    }
    this.#printedBytes += printedBytes(execution);
    while (this.#hasTooMuch()) this.#forgetOldest();
  }

  entries(): readonly HistoryEntry[] {
    const last = this.#entries.slice(-MAX_ENTRIES);
    return last.map(({ startedAt, ...entry }) => ({ ...entry, startedAt: new Date(startedAt).toISOString() }));
  }

  execution(id: string): Execution | undefined {
    return this.#executions.find((execution) => execution.id === id);
  }

  clear(): void {
    this.#entries = [];
    for (const execution of this.#executions.splice(0)) execution.dropOutput();
    this.#printedBytes = 0;
  }

  /** The last one is always kept. */
  #hasTooMuch(): boolean {
    const count = this.#executions.length;
    return count > MAX_LOGS || (this.#printedBytes > MAX_LOG_BYTES && count > 1);
  }

  #forgetOldest(): void {
    const oldest = this.#executions.shift();
    if (oldest === undefined) return;
    this.#printedBytes -= printedBytes(oldest);
    oldest.dropOutput();
  }
}

function printedBytes(execution: Execution): number {
  return (execution.printed("stdout")?.readable ?? 0) + (execution.printed("stderr")?.readable ?? 0);
}
