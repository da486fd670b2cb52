// The executions that began at this door, by id: those that run, and those that ended lately.
//
// One runs on when its client has gone: it can be found again, and followed from where the client was. Results are kept for an hour, the
// last of them only where there are many or they are large; what was printed can be read for as long as the session keeps it.

import { LimitExceededError } from "../../errors.ts";
import type { ExecutionResult } from "../../protocol/execution.ts";
import type { ExecuteOptions } from "../../session/options.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import { ProblemError, toProblem, toWire, type WireProblem } from "../net/problem.ts";

export interface ExecutionsBounds {
  /** That run or wait for their turn, in all sessions together. */
  readonly running: number;
  /** Of their code. */
  readonly codeBytes: number;
  readonly ended: number;
  /** Of the results of ended ones. */
  readonly endedBytes: number;
  readonly keptMs: number;
}

export const DEFAULT_EXECUTIONS: ExecutionsBounds = {
  running: 1000,
  codeBytes: 512 * 1024 * 1024,
  ended: 5000,
  endedBytes: 256 * 1024 * 1024,
  keptMs: 3_600_000,
};

interface Ended {
  readonly at: number;
  readonly bytes: number;
  readonly outcome: Outcome;
}

type Outcome = { readonly result: ExecutionResult } | { readonly problem: WireProblem };

export class Executions {
  readonly #bounds: ExecutionsBounds;
  readonly #byId = new Map<string, Execution>();
  readonly #running = new Set<Execution>();
  /** Roughly, in characters. */
  #codeBytes = 0;
  /** Oldest first. */
  readonly #ended = new Map<Execution, Ended>();
  #endedBytes = 0;

  constructor(bounds: Partial<ExecutionsBounds> = {}) {
    this.#bounds = { ...DEFAULT_EXECUTIONS, ...bounds };
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * Throws LimitExceededError when too many run, and what `session.execute` throws. One that is not kept is forgotten as soon as it
   * has ended.
   */
  start(session: Session, code: string, options: ExecuteOptions, { isKept = true } = {}): Execution {
    const { running, codeBytes } = this.#bounds;
    if (this.#running.size >= running) {
      throw new LimitExceededError({ what: "execute more code at once", limit: "executions", value: running });
    }
    if (this.#codeBytes + code.length > codeBytes) {
      throw new LimitExceededError({ what: "execute more code at once", limit: "codeBytes", value: codeBytes });
    }
    const execution = session.execute(code, options);
    this.#codeBytes += code.length;
    this.#byId.set(execution.id, execution);
    this.#running.add(execution);
    const end = (outcome: Outcome): void => {
      this.#running.delete(execution);
      this.#codeBytes -= code.length;
      if (isKept) this.#keep(execution, outcome);
      else this.#byId.delete(execution.id);
    };
    execution.result.then(
      (result) => end({ result }),
      (error: unknown) => end({ problem: toWire(toProblem(error)) }),
    );
    return execution;
  }

  /** Throws a ProblemError where there is none, or it is forgotten. */
  get(id: string): Execution {
    const execution = this.#byId.get(id);
    if (execution !== undefined) return execution;
    const detail = `There is no execution '${id.slice(0, 100)}': it never was, or it ended too long ago`;
    throw new ProblemError({ status: 404, code: "EXECUTION_NOT_FOUND", detail });
  }

  /** Undefined: it runs, or the session could not run it. */
  resultOf(execution: Execution): ExecutionResult | undefined {
    const outcome = this.#ended.get(execution)?.outcome;
    return outcome !== undefined && "result" in outcome ? outcome.result : undefined;
  }

  /** Why the session could not run it. */
  problemOf(execution: Execution): WireProblem | undefined {
    const outcome = this.#ended.get(execution)?.outcome;
    return outcome !== undefined && "problem" in outcome ? outcome.problem : undefined;
  }

  isOver(execution: Execution): boolean {
    return this.#ended.has(execution);
  }

  /** Resolves when none runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running].map(({ result }) => result));
  }

  /** Interrupts them all. Resolves when they have ended. */
  async cancelAll(): Promise<void> {
    const running = [...this.#running];
    for (const execution of running) execution.cancel();
    await Promise.allSettled(running.map(({ result }) => result));
  }

  #keep(execution: Execution, outcome: Outcome): void {
    const bytes = execution.code.length + ("result" in outcome ? sizeOf(outcome.result) : 0);
    const at = Date.now();
    this.#ended.set(execution, { at, bytes, outcome });
    this.#endedBytes += bytes;
    for (const [oldest, ended] of this.#ended) {
      const { ended: most, endedBytes, keptMs } = this.#bounds;
      const isTooMuch = this.#ended.size > most || (this.#endedBytes > endedBytes && this.#ended.size > 1);
      if (!isTooMuch && at - ended.at < keptMs) break;
      this.#ended.delete(oldest);
      this.#endedBytes -= ended.bytes;
      // A session of the same name may have begun anew, and counts from one again.
      if (this.#byId.get(oldest.id) === oldest) this.#byId.delete(oldest.id);
    }
  }
}

/** Roughly, in characters. */
function sizeOf({ stdout, stderr, value = {}, displays, error }: ExecutionResult): number {
  let size = stdout.length + stderr.length + (error?.traceback.length ?? 0) + 500;
  for (const bundle of [value, ...displays]) for (const text of Object.values(bundle)) size += text.length;
  return size;
}
