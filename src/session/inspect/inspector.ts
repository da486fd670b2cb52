// Queries about a live namespace. They are answered while code runs and never wait for it.
//
// Queries that may run user code (a repr, a property) run in a fork of the worker that is killed at its time limit, so the session itself
// is never changed. Four of them run at a time; others wait in a queue. Without the capability `inspectWhileRunning` they run in the worker,
// one at a time and while no code runs, and a worker that does not answer in time is replaced.

import { InspectionError, WorkerLostError } from "../../errors.ts";
import type { HostQuestion } from "../../protocol/worker/host-messages.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { NamespaceSummary } from "../../protocol/sessions.ts";
import type {
  Completions,
  InspectedVariable,
  Signature,
  SourceText,
  VariableList,
  VariableRows,
} from "../../protocol/variables.ts";
import type * as WorkerAnswers from "../../protocol/worker/worker-answers.ts";
import type { StatusEvent } from "../../protocol/worker/worker-events.ts";
import { Semaphore } from "../../util/async/semaphore.ts";
import { withTimeout } from "../../util/async/with-timeout.ts";
import type { Executor } from "../execution/executor.ts";
import {
  checkCode,
  checkInspectOptions,
  checkRowsOptions,
  toCodePoints,
  toCodeUnits,
  type InspectOptions,
  type LookOptions,
  type RowsOptions,
} from "./inspector-options.ts";

const MAX_OPEN = 4;
const MAX_WAITING = 1_000;
/** For a thread of the worker to be scheduled, in addition to the time limit of the query. */
const REPLY_LIMIT_MS = 3_000;

/** The second one is for the next kernel, after a rewind or a lost worker. */
const ATTEMPTS = 2;

export class Inspector {
  readonly #sessionId: SessionId;
  readonly #executor: Executor;
  readonly #semaphore = new Semaphore(MAX_OPEN, MAX_WAITING);

  constructor(sessionId: SessionId, executor: Executor) {
    this.#sessionId = sessionId;
    this.#executor = executor;
  }

  /** Whether a query that may run user code is open. */
  get isBusy(): boolean {
    return this.#semaphore.held > 0;
  }

  /** What is known within the limit. A limit of 0 asks nothing. Never rejects. */
  async summary(limitMs: number): Promise<NamespaceSummary> {
    if (limitMs === 0) return { variableCount: null, variables: [], memoryBytes: null };
    const { kernels, activeWork } = this.#executor;
    const [statistics, usage] = await activeWork.during(() =>
      Promise.all([
        kernels.recovery === undefined ? kernels.current.query({ cmd: "statistics" }, limitMs) : undefined,
        withTimeout(limitMs, kernels.usage()).catch(() => undefined),
      ]),
    );
    const data = statistics === undefined || statistics === "timeout" ? undefined : statistics.data;
    const { variableCount = null, variables = [] } = (data && (await parsers()).parseStatistics(data)) ?? {};
    return { variableCount, variables, memoryBytes: usage?.memoryBytes ?? null };
  }

  variables(all: boolean): Promise<VariableList> {
    return this.#query("list the variables", { cmd: "variables", all }, REPLY_LIMIT_MS, async (data) =>
      (await parsers()).parseVariableList(data),
    );
  }

  inspect(name: string, options: InspectOptions): Promise<InspectedVariable | null> {
    const { timeoutMs, maxCharacters } = checkInspectOptions(name, options);
    const question: HostQuestion = { cmd: "inspect", name, maxCharacters, timeoutMs };
    return this.#queryForked(`inspect '${name.slice(0, 80)}'`, question, timeoutMs, async (data) =>
      (await parsers()).parseInspection(data, name, maxCharacters),
    );
  }

  rows(name: string, options: RowsOptions): Promise<VariableRows | null> {
    const { timeoutMs, part } = checkRowsOptions(name, options);
    const question: HostQuestion = { cmd: "rows", name, timeoutMs, ...part };
    return this.#queryForked(`list rows of '${name.slice(0, 80)}'`, question, timeoutMs, async (data) =>
      (await parsers()).parseRows(data, part),
    );
  }

  async complete(code: string, cursor: number, options: LookOptions): Promise<Completions> {
    const timeoutMs = checkCode(code, cursor, options);
    const position = toCodePoints(code, cursor);
    const question: HostQuestion = { cmd: "complete", code, cursor: position, timeoutMs };
    const found = await this.#queryForked("complete code", question, timeoutMs, async (data) =>
      (await parsers()).parseCompletions(data, position),
    );
    return { ...found, start: toCodeUnits(code, found.start), end: cursor };
  }

  signature(code: string, cursor: number, options: LookOptions): Promise<Signature | null> {
    const timeoutMs = checkCode(code, cursor, options);
    const question: HostQuestion = { cmd: "signature", code, cursor: toCodePoints(code, cursor), timeoutMs };
    return this.#queryForked("find a signature", question, timeoutMs, async (data) =>
      (await parsers()).parseSignature(data),
    );
  }

  source(name: string, options: LookOptions): Promise<SourceText | null> {
    const timeoutMs = checkCode(name, name.length, options);
    return this.#queryForked("find the source", { cmd: "source", name, timeoutMs }, timeoutMs, async (data) =>
      (await parsers()).parseSource(data),
    );
  }

  async #queryForked<T>(what: string, question: HostQuestion, timeoutMs: number, parse: Parse<T>): Promise<T> {
    if (!(await this.#semaphore.acquire())) throw this.#error(what, `${MAX_WAITING} questions are waiting already`);
    try {
      return await this.#query(what, question, timeoutMs + REPLY_LIMIT_MS, parse);
    } finally {
      this.#semaphore.release();
    }
  }

  #query<T>(what: string, question: HostQuestion, limitMs: number, parse: Parse<T>): Promise<T> {
    return this.#executor.activeWork.during(() => this.#ask(what, question, limitMs, parse));
  }

  async #ask<T>(what: string, question: HostQuestion, limitMs: number, parse: Parse<T>): Promise<T> {
    let reply: StatusEvent | "timeout" | "ended" | undefined;
    const { kernels } = this.#executor;
    for (let attempt = 1; attempt <= ATTEMPTS && reply === undefined; attempt += 1) {
      await kernels.recovery;
      this.#executor.checkOpen();
      reply =
        "timeoutMs" in question
          ? await kernels.inspect(question, { action: what, limitMs, isRunning: () => this.#executor.isRunningCode })
          : await kernels.current.query(question, limitMs);
    }
    if (reply === undefined) {
      this.#executor.checkOpen();
      throw new WorkerLostError(`Cannot ${what} in session '${this.#sessionId}': the worker was lost meanwhile`);
    }
    if (reply === "ended")
      throw this.#error(what, "it timed out; the worker was replaced and the session's state is lost");
    if (reply === "timeout") throw this.#error(what, "the running code holds the interpreter");
    if (reply.data === undefined) throw this.#error(what, reply.error?.value ?? "the worker gave no answer");
    const parsed = await parse(reply.data);
    if (parsed === undefined) throw this.#error(what, "the worker sent an invalid reply");
    return parsed;
  }

  #error(what: string, why: string): InspectionError {
    return new InspectionError({ sessionId: this.#sessionId, what, why });
  }
}

type Parse<T> = (data: NonNullable<StatusEvent["data"]>) => Promise<T | undefined>;

/** Loaded when they are needed: building their schemas would slow down the start of every program. */
const parsers = (): Promise<typeof WorkerAnswers> => import("../../protocol/worker/worker-answers.ts");
