// Counts what became of the calls that one block of code made.

import type { QueryReply } from "../calls/queries.ts";

export interface CountedReply extends QueryReply {
  /** It was meant for a child and had a single model call. */
  readonly degraded?: boolean;
}

export interface FailedKind {
  readonly kind: string;
  readonly count: number;
  readonly isRetryable: boolean;
}

export interface BlockCalls {
  /** Of models and children. */
  readonly total: number;
  readonly tools: number;
  /** By kind, in the order of their first failure. */
  readonly failed: readonly FailedKind[];
  /** Undefined: none failed. */
  readonly firstError: string | undefined;
  /** Answers that were cut off. */
  readonly cut: number;
  /** Tasks for a child that were answered by a single call. */
  readonly degraded: number;
  /** Single calls that were made while no other was open. */
  readonly sequential: number;
}

const MAX_KINDS = 16;

export class CallTally {
  #counts = emptyCounts();
  #open = 0;

  /** Call with the number of calls that are made at once; then with their replies, also where they failed. */
  begin(size: number): (replies: readonly CountedReply[]) => void {
    if (size === 1 && this.#open === 0) this.#counts.sequential += 1;
    this.#counts.total += size;
    this.#open += 1;
    return (replies) => {
      this.#open -= 1;
      for (const reply of replies) this.#add(reply);
    };
  }

  countTool(): void {
    this.#counts.tools += 1;
  }

  /** What was counted since the last time. */
  take(): BlockCalls {
    const { failed, ...counts } = this.#counts;
    this.#counts = emptyCounts();
    return { ...counts, failed: [...failed.values()] };
  }

  #add({ ok, kind = "error", retryable = false, error, truncated = false, degraded = false }: CountedReply): void {
    const counts = this.#counts;
    if (degraded) counts.degraded += 1;
    if (ok) {
      if (truncated) counts.cut += 1;
      return;
    }
    counts.firstError ??= error ?? "";
    const key = counts.failed.has(kind) || counts.failed.size < MAX_KINDS ? kind : "other";
    const known = counts.failed.get(key);
    counts.failed.set(key, { kind: key, count: (known?.count ?? 0) + 1, isRetryable: retryable });
  }
}

interface Counts {
  total: number;
  tools: number;
  readonly failed: Map<string, FailedKind>;
  firstError: string | undefined;
  cut: number;
  degraded: number;
  sequential: number;
}

function emptyCounts(): Counts {
  return { total: 0, tools: 0, failed: new Map(), firstError: undefined, cut: 0, degraded: 0, sequential: 0 };
}
