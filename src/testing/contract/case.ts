// A case of the contract, and what it is given.

import type { RLM, RLMOptions } from "../../api/run.ts";
import type { Runtime } from "../../api/runtime.ts";
import type { Session, SessionOptions } from "../../api/session.ts";
import type { Capabilities } from "../../protocol/capabilities.ts";

/** One promise of a runtime. */
export interface ContractCase {
  /** A sentence about behaviour. */
  readonly name: string;
  /** What the runtime must have for it. Default: nothing. */
  readonly needs?: readonly Need[];
  /** Rejects where the promise is not kept. */
  run(context: ContractContext): Promise<void>;
}

/** A capability, or `runs`: recursive runs, answered by the script of the contract. */
export type Need =
  | "fork"
  | "checkpoint"
  | "shell"
  | "processes"
  | "threads"
  | "watch"
  | "inspectWhileRunning"
  | "runs"
  | OptionalFeature;

/** The module `resource`, which Python in WebAssembly does not have. */
export type OptionalFeature = "resource";

/** What a case works with. Everything that it opens here is closed when the case has ended. */
export interface ContractContext {
  /** What is tested. */
  readonly runtime: Runtime;
  /** Another runtime with the same sessions, tasks and runs; the same one where there is no other. */
  readonly other: Runtime;
  /** What its environment can do. */
  readonly capabilities: Capabilities;
  /** How many executions may wait in one session. */
  readonly maxWaiting: number;
  /** Opens a session that is closed when the case has ended. */
  readonly openSession: (options?: SessionOptions) => Promise<Session>;
  /** A runtime that the case may close. */
  readonly open: () => Promise<Runtime>;
  /** Runs that are answered by the script of the contract. */
  readonly rlm: (options?: RLMOptions) => RLM;
}

/** An id that nothing has had before. */
export function uniqueId(prefix: string): string {
  return `${prefix}-${crypto.randomUUID()}`;
}
