// Notices blocks of code that a model has run before, with the same outcome.

import { createHash } from "node:crypto";
import type { ExecutionResult } from "../../protocol/execution.ts";

export interface Repetition {
  /** The step of the first block with this code and outcome. */
  readonly first: number;
  /** Blocks in a row, with this one, that each repeat an earlier one. Those that show nothing do not count: they may get on unseen. */
  readonly inRow: number;
}

const MAX_BLOCKS = 10_000;

export class RepeatedBlocks {
  readonly #steps = new Map<string, number>();
  #inRow = 0;

  /** Undefined: the code or its outcome is new. Comments, blank lines and spaces at line ends do not count. */
  add(step: number, code: string, result: ExecutionResult): Repetition | undefined {
    const key = digest(normalize(code), outcomeOf(result));
    const first = this.#steps.get(key);
    if (first === undefined) {
      this.#inRow = 0;
      if (this.#steps.size < MAX_BLOCKS) this.#steps.set(key, step);
      return undefined;
    }
    if (!isSilent(result)) this.#inRow += 1;
    return { first, inRow: this.#inRow };
  }
}

function isSilent({ status, stdout, stderr, value, displays }: ExecutionResult): boolean {
  return status === "ok" && stdout === "" && stderr === "" && value === undefined && displays.length === 0;
}

function normalize(code: string): string {
  const lines = code.split("\n").map((line) => line.trimEnd());
  return lines.filter((line) => line !== "" && !line.trimStart().startsWith("#")).join("\n");
}

function outcomeOf({ status, stdout, stderr, value, error, truncated, state }: ExecutionResult): unknown {
  return [status, state, stdout, stderr, value?.["text/plain"], error?.name, error?.value, truncated];
}

function digest(code: string, outcome: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([code, outcome]))
    .digest("base64");
}
