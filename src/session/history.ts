// What was run in a session, and what it printed: the last ones only.

import type { ExecutionResult, ExecutionStatus } from "../protocol/execution.ts";
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

export class History {
  #entries: HistoryEntry[] = [];
  readonly #executions = new Map<string, Execution>();

  begin(execution: Execution, executionCount: number): void {
    this.#entries.push({
      executionId: execution.id,
      executionCount,
      code: execution.code.slice(0, MAX_CODE),
      startedAt: new Date().toISOString(),
      status: null,
      durationMs: null,
    });
    if (this.#entries.length > MAX_ENTRIES * 2) this.#entries = this.#entries.slice(-MAX_ENTRIES);
    this.#executions.set(execution.id, execution);
  }

  end(execution: Execution, { status, durationMs }: ExecutionResult): void {
    const last = this.#entries.at(-1);
    if (last?.executionId === execution.id) this.#entries[this.#entries.length - 1] = { ...last, status, durationMs };
    this.#forgetOldOutput();
  }

  entries(): readonly HistoryEntry[] {
    return this.#entries.slice(-MAX_ENTRIES);
  }

  execution(id: string): Execution | undefined {
    return this.#executions.get(id);
  }

  clear(): void {
    this.#entries = [];
    for (const execution of this.#executions.values()) execution.dropOutput();
    this.#executions.clear();
  }

  #forgetOldOutput(): void {
    let bytes = 0;
    for (const execution of this.#executions.values()) bytes += printedBytes(execution);
    for (const [id, execution] of this.#executions) {
      if (this.#executions.size <= MAX_LOGS && bytes <= MAX_LOG_BYTES) return;
      bytes -= printedBytes(execution);
      execution.dropOutput();
      this.#executions.delete(id);
    }
  }
}

function printedBytes(execution: Execution): number {
  return (execution.printed("stdout")?.readable ?? 0) + (execution.printed("stderr")?.readable ?? 0);
}
