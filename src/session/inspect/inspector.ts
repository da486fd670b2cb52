// Questions about a live namespace. They are answered beside whatever runs and never wait for it.
//
// What may run user code (a repr, a property) runs in a fork of the worker that is killed at its time limit, so the session
// itself is never touched. Four such questions are open at a time; others wait here.

import { InspectionError, WorkerLostError } from "../../errors.ts";
import type { HostQuestion } from "../../protocol/worker/host-messages.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { NamespaceSummary } from "../../protocol/sessions.ts";
import type { Completions, InspectedVariable, Signature, VariableList } from "../../protocol/variables.ts";
import type * as WorkerAnswers from "../../protocol/worker/worker-answers.ts";
import type { StatusEvent } from "../../protocol/worker/worker-events.ts";
import { within } from "../../util/async/with-timeout.ts";
import type { Runner } from "../execution/runner.ts";
import {
  checkCode,
  checkInspectOptions,
  toCodePoints,
  toCodeUnits,
  type InspectOptions,
  type LookOptions,
} from "./inspector-options.ts";

const MAX_OPEN = 4;
const MAX_WAITING = 1_000;
/** For a thread of the worker to have its turn: besides the time that the question itself may take. */
const HEAR_LIMIT_MS = 3_000;

/** Who is asked when there was a new kernel meanwhile, because of a rewind or a loss. */
const ATTEMPTS = 2;

export class Inspector {
  readonly #sessionId: SessionId;
  readonly #runner: Runner;
  #open = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(sessionId: SessionId, runner: Runner) {
    this.#sessionId = sessionId;
    this.#runner = runner;
  }

  /** Whether a question is being looked into. */
  get isAsked(): boolean {
    return this.#open > 0;
  }

  /** What is known within the limit; a limit of 0 asks nobody. Never rejects. */
  async summary(limitMs: number): Promise<NamespaceSummary> {
    if (limitMs === 0) return { variableCount: null, variables: [], memoryBytes: null };
    const { kernels } = this.#runner;
    const [statistics, usage] = await Promise.all([
      kernels.recovery === undefined ? kernels.current.askAside({ cmd: "statistics" }, limitMs) : undefined,
      within(limitMs, kernels.usage()).catch(() => undefined),
    ]);
    const told = statistics === undefined || statistics === "unheard" ? undefined : statistics.data;
    const { variableCount = null, variables = [] } = (told && (await parsers()).parseStatistics(told)) ?? {};
    return { variableCount, variables, memoryBytes: usage?.memoryBytes ?? null };
  }

  variables(all: boolean): Promise<VariableList> {
    return this.#ask("list the variables", { cmd: "variables", all }, HEAR_LIMIT_MS, async (data) =>
      (await parsers()).parseVariableList(data),
    );
  }

  inspect(name: string, options: InspectOptions): Promise<InspectedVariable | null> {
    const { timeoutMs, maxCharacters } = checkInspectOptions(name, options);
    const question: HostQuestion = { cmd: "inspect", name, maxCharacters, timeoutMs };
    return this.#askInTurn(`inspect '${name.slice(0, 80)}'`, question, timeoutMs, async (data) =>
      (await parsers()).parseInspection(data, name, maxCharacters),
    );
  }

  async complete(code: string, cursor: number, options: LookOptions): Promise<Completions> {
    const timeoutMs = checkCode(code, cursor, options);
    const place = toCodePoints(code, cursor);
    const question: HostQuestion = { cmd: "complete", code, cursor: place, timeoutMs };
    const found = await this.#askInTurn("complete code", question, timeoutMs, async (data) =>
      (await parsers()).parseCompletions(data, place),
    );
    return { ...found, start: toCodeUnits(code, found.start), end: cursor };
  }

  signature(code: string, cursor: number, options: LookOptions): Promise<Signature | null> {
    const timeoutMs = checkCode(code, cursor, options);
    const question: HostQuestion = { cmd: "signature", code, cursor: toCodePoints(code, cursor), timeoutMs };
    return this.#askInTurn("find a signature", question, timeoutMs, async (data) =>
      (await parsers()).parseSignature(data),
    );
  }

  async #askInTurn<T>(what: string, question: HostQuestion, timeoutMs: number, parse: Parse<T>): Promise<T> {
    if (this.#open >= MAX_OPEN) {
      if (this.#waiting.length >= MAX_WAITING) throw this.#error(what, `${MAX_WAITING} questions are waiting already`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#open += 1;
    try {
      return await this.#ask(what, question, timeoutMs + HEAR_LIMIT_MS, parse);
    } finally {
      const next = this.#waiting.shift(); // takes over this place
      if (next === undefined) this.#open -= 1;
      else next();
    }
  }

  async #ask<T>(what: string, question: HostQuestion, limitMs: number, parse: Parse<T>): Promise<T> {
    let answer: StatusEvent | "unheard" | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS && answer === undefined; attempt += 1) {
      await this.#runner.kernels.recovery;
      this.#runner.checkOpen();
      answer = await this.#runner.kernels.current.askAside(question, limitMs);
    }
    if (answer === undefined) {
      this.#runner.checkOpen();
      throw new WorkerLostError(`Cannot ${what} in session '${this.#sessionId}': the worker was lost meanwhile`);
    }
    if (answer === "unheard") throw this.#error(what, "the running code holds the interpreter");
    if (answer.data === undefined) throw this.#error(what, answer.error?.value ?? "the worker gave no answer");
    const parsed = await parse(answer.data);
    if (parsed === undefined) throw this.#error(what, "the worker's answer makes no sense");
    return parsed;
  }

  #error(what: string, why: string): InspectionError {
    return new InspectionError({ sessionId: this.#sessionId, what, why });
  }
}

type Parse<T> = (data: NonNullable<StatusEvent["data"]>) => Promise<T | undefined>;

/** Loaded when they are needed: building their schemas would slow down the start of every program. */
const parsers = (): Promise<typeof WorkerAnswers> => import("../../protocol/worker/worker-answers.ts");
