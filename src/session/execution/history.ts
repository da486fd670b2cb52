// The last executions of a session, with their output, events and results.

import type { ExecutionResult, ExecutionStatus, HistoryEntry } from "../../protocol/execution.ts";
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
/** Of the code, the displays and the results of these. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

interface Entry extends Omit<HistoryEntry, "startedAt" | "status" | "durationMs"> {
  readonly startedAt: number;
  status: ExecutionStatus | null;
  durationMs: number | null;
}

interface Recent {
  readonly id: ExecutionId;
  readonly output: PrintedOutput;
  bytes: number;
  /** Undefined: only its output is kept. */
  execution: Execution | undefined;
  characters: number;
}

export class History {
  #entries: Entry[] = [];
  /** Those whose output is readable, oldest first. */
  readonly #recent: Recent[] = [];
  #printedBytes = 0;
  #characters = 0;

  /** `parent`: the number of the execution whose state it begins with. */
  begin(execution: Execution, parent: number, startedAt: number): void {
    this.#entries.push({
      executionId: execution.id,
      executionCount: execution.count,
      parent,
      code: detachedPrefix(execution.code, MAX_CODE),
      startedAt,
      status: null,
      durationMs: null,
    });
    if (this.#entries.length > MAX_ENTRIES * 2) this.#entries = this.#entries.slice(-MAX_ENTRIES);
    this.#recent.push({ id: execution.id, output: execution.printed, bytes: 0, execution, characters: 0 });
  }

  end(execution: Execution, result: ExecutionResult): void {
    const { status, durationMs } = result;
    const last = this.#entries.at(-1);
    if (last?.executionId === execution.id) {
      last.status = status;
      last.durationMs = durationMs;
    }
    const ended = this.#recent.findLast(({ id }) => id === execution.id);
    if (ended !== undefined) {
      this.#printedBytes += ended.bytes = execution.printed.readable;
      this.#characters += ended.characters = execution.sizeWith(result);
    }
    while (this.#isOverLimit()) this.#dropOldest();
    if (this.#characters > MAX_CHARACTERS) this.#forgetOldest();
  }

  entries(): readonly HistoryEntry[] {
    const last = this.#entries.slice(-MAX_ENTRIES);
    return last.map(({ startedAt, ...entry }) => ({ ...entry, startedAt: new Date(startedAt).toISOString() }));
  }

  /** Undefined: it is no longer kept. */
  output(id: string): PrintedOutput | undefined {
    return this.#recent.find((entry) => entry.id === id)?.output;
  }

  /** Undefined: it is no longer kept. */
  execution(id: string): Execution | undefined {
    return this.#recent.find((entry) => entry.id === id)?.execution;
  }

  clear(): void {
    this.#entries = [];
    for (const { output } of this.#recent.splice(0)) output.close();
    this.#printedBytes = this.#characters = 0;
  }

  /** The last one is always kept. */
  #isOverLimit(): boolean {
    const count = this.#recent.length;
    return count > MAX_LOGS || (this.#printedBytes > MAX_LOG_BYTES && count > 1);
  }

  #dropOldest(): void {
    const oldest = this.#recent.shift();
    if (oldest === undefined) return;
    this.#printedBytes -= oldest.bytes;
    this.#characters -= oldest.characters;
    oldest.output.close();
  }

  /** Keeps the outputs, which take little memory. The last result is always kept. */
  #forgetOldest(): void {
    for (const recent of this.#recent.slice(0, -1)) {
      if (this.#characters <= MAX_CHARACTERS) return;
      this.#characters -= recent.characters;
      recent.characters = 0;
      recent.execution = undefined;
    }
  }
}
