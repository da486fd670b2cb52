// The executions that clients started over HTTP and WebSockets, by id: running ones, and those that ended recently. Others, such as those of
// MCP and of runs, are found for as long as their sessions keep them.
//
// An execution does not depend on its client's connection: it can be found by its id and followed from any cursor. Results are kept for
// an hour, within limits on their number and size. Output can be read for as long as the session keeps it.

import { ExecutionNotFoundError, IdReusedError, LimitExceededError } from "../../errors.ts";
import type { ProblemSummary } from "../../protocol/api/problem.ts";
import type { ExecutionResult } from "../../protocol/execution.ts";
import type { ExecuteOptions } from "../../session/options.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import { HeldOutputs } from "./held-outputs.ts";
import { toProblem, toSummary } from "../net/problem.ts";

export interface ExecutionLimits {
  /** Running or queued, in all sessions together. */
  readonly running: number;
  /** Of the code of these. */
  readonly codeBytes: number;
  readonly ended: number;
  /** Of the kept results. */
  readonly endedBytes: number;
  readonly keptMs: number;
}

export const DEFAULT_EXECUTION_LIMITS: ExecutionLimits = {
  running: 1000,
  codeBytes: 512 * 1024 * 1024,
  ended: 5000,
  endedBytes: 256 * 1024 * 1024,
  keptMs: 3_600_000,
};

/** What one takes without its texts. */
const RESULT_CHARACTERS = 500;

interface Ended {
  readonly at: number;
  readonly bytes: number;
  readonly outcome: Outcome;
}

/** The problem: why the session could not run it. */
type Outcome =
  | { readonly result: ExecutionResult; readonly problem?: undefined }
  | { readonly problem: ProblemSummary; readonly result?: undefined };

/** `with-output`: the output, too, because its session ends with it. `not`: it is forgotten when it has ended. */
export type Keeping = "result" | "with-output" | "not";

export class Executions {
  readonly #limits: ExecutionLimits;
  readonly #findOther: (id: string) => Execution | undefined;
  readonly #byId = new Map<string, Execution>();
  readonly #running = new Set<Execution>();
  /** Approximately: in characters. */
  #codeBytes = 0;
  /** Oldest first. */
  readonly #ended = new Map<Execution, Ended>();
  #endedBytes = 0;
  readonly #outputs = new HeldOutputs();

  constructor(limits: Partial<ExecutionLimits>, findOther: (id: string) => Execution | undefined) {
    this.#findOther = findOther;
    this.#limits = { ...DEFAULT_EXECUTION_LIMITS, ...limits };
  }

  get running(): number {
    return this.#running.size;
  }

  /** Throws LimitExceededError when too many are running, IdReusedError, and what `session.execute` throws. */
  start(session: Session, code: string, options: ExecuteOptions, keeping: Keeping = "result"): Execution {
    const { id } = options;
    if (id !== undefined && this.#byId.has(id)) throw new IdReusedError({ id, kind: "execution" });
    const { running, codeBytes } = this.#limits;
    if (this.#running.size >= running) {
      throw new LimitExceededError({ what: "execute more code at once", limit: "executions", value: running });
    }
    if (this.#codeBytes + code.length > codeBytes) {
      throw new LimitExceededError({ what: "execute more code at once", limit: "codeBytes", value: codeBytes });
    }
    const execution = session.execute(code, options);
    if (keeping === "with-output") this.#outputs.hold(execution);
    this.#codeBytes += code.length;
    this.#byId.set(execution.id, execution);
    this.#running.add(execution);
    const end = (outcome: Outcome): void => {
      this.#running.delete(execution);
      this.#codeBytes -= code.length;
      if (keeping === "not") this.#byId.delete(execution.id);
      else this.#keep(execution, outcome);
    };
    execution.result.then(
      (result) => end({ result }),
      (error: unknown) => end({ problem: toSummary(toProblem(error)) }),
    );
    return execution;
  }

  /** Throws ExecutionNotFoundError. */
  get(id: string): Execution {
    const execution = this.#byId.get(id) ?? this.#findOther(id);
    if (execution !== undefined) return execution;
    throw new ExecutionNotFoundError({ executionId: id });
  }

  /** Undefined: it is queued or running. */
  outcomeOf(execution: Execution): Outcome | undefined {
    const { outcome: result } = execution;
    return this.#ended.get(execution)?.outcome ?? (result && { result });
  }

  /** Resolves when none is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running].map(({ result }) => result));
  }

  /** Interrupts all of them. Resolves when they have ended. */
  async cancelAll(): Promise<void> {
    const running = [...this.#running];
    for (const execution of running) execution.cancel();
    await Promise.allSettled(running.map(({ result }) => result));
  }

  #keep(execution: Execution, outcome: Outcome): void {
    const bytes = execution.size + RESULT_CHARACTERS;
    const at = Date.now();
    this.#ended.set(execution, { at, bytes, outcome });
    this.#outputs.end(execution);
    this.#endedBytes += bytes;
    for (const [oldest, ended] of this.#ended) {
      const { ended: most, endedBytes, keptMs } = this.#limits;
      const isTooMuch = this.#ended.size > most || (this.#endedBytes > endedBytes && this.#ended.size > 1);
      if (!isTooMuch && at - ended.at < keptMs) break;
      this.#ended.delete(oldest);
      this.#outputs.drop(oldest);
      this.#endedBytes -= ended.bytes;
      // A new session of the same name reuses ids.
      if (this.#byId.get(oldest.id) === oldest) this.#byId.delete(oldest.id);
    }
  }
}
