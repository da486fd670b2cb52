// An execution on a server.

import { checkAnswer, checkOutputRange } from "../../api/checks/check-calls.ts";
import type { AnswerOptions, Execution, InputHandler, OutputRange, OutputSlice } from "../../api/execution.ts";
import { toResult, type Result } from "../../api/result-view.ts";
import type { Signal } from "../../api/web-types.ts";
import { ExecutionNotFoundError, ServerRefusedError } from "../../errors.ts";
import type { ExecutionView } from "../../protocol/api/executions.ts";
import type { ExecutionEvent } from "../../protocol/events.ts";
import type { ExecutionId } from "../../protocol/ids.ts";
import { jsonBody } from "../net/body.ts";
import { openEvents, type EventStream, type StreamedEvent } from "../net/event-stream.ts";
import { TemporaryFailure } from "../net/failure.ts";
import { toSegment } from "../net/ids.ts";
import { problem, toError } from "../net/problem.ts";
import type { Requests } from "../net/requests.ts";
import { execution, executionEvent, executionResult } from "../shapes/executions.ts";
import { answerInputs } from "./input.ts";
import { readOutput } from "./output.ts";
import { Engine, Work, type Outcome, type WorkKind } from "./work.ts";

/** How to start one. */
export interface ExecutionStart {
  /** The route: `/v1/sessions/s/execute`. */
  readonly route: string;
  readonly body: object;
  readonly signal: Signal | undefined;
  readonly onInput: InputHandler | "ask" | undefined;
  /** Sends in its turn. */
  readonly inOrder: <Value>(send: () => Promise<Value>) => Promise<Value>;
}

type ExecutionEngine = Engine<Result, ExecutionEvent, ExecutionView>;

export class RemoteExecution extends Work<Result, ExecutionEvent> implements Execution {
  readonly id: ExecutionId;
  readonly #engine: ExecutionEngine;

  /** Found by its id, or started. */
  constructor(requests: Requests, id: string, start?: ExecutionStart) {
    const engine = new Engine(requests, executionKind(id));
    super(engine);
    this.id = id as ExecutionId;
    this.#engine = engine;
    if (start !== undefined) this.#start(start);
  }

  get [Symbol.toStringTag](): string {
    return "Execution";
  }

  async cancel(): Promise<void> {
    await this.#engine.requests.send("POST", `${await this.#engine.path()}/cancel`);
  }

  output(range: OutputRange = {}): Promise<OutputSlice> {
    checkOutputRange("execution.output", range);
    return readOutput(this.#engine.requests, () => this.#engine.path(), range);
  }

  answer(line: string | null, options: AnswerOptions = {}): Promise<boolean> {
    checkAnswer(line, options);
    return this.#answer({ text: line, call: options.call });
  }

  async #answer(json: { readonly text: string | null; readonly call?: number | undefined }): Promise<boolean> {
    const { requests } = this.#engine;
    try {
      await requests.send("POST", `${await this.#engine.path()}/stdin`, { json });
      return true;
    } catch (error) {
      if (error instanceof ServerRefusedError && error.problem === "NOT_WAITING") return false;
      throw error;
    }
  }

  #start({ route, body, signal, onInput, inOrder }: ExecutionStart): void {
    const { requests } = this.#engine;
    this.#engine.begin((isObserved) =>
      inOrder(async () => {
        signal?.throwIfAborted();
        return this.#send(route, body, isObserved);
      }),
    );
    if (signal !== undefined) this.#engine.cancelWith(signal, () => this.cancel());
    if (typeof onInput === "function") {
      void answerInputs(this, onInput, async (call, line) => {
        await requests.send("POST", `${await this.#engine.path()}/stdin`, { json: { ...line, call } });
      });
    }
  }

  /** The id makes repeated requests the same work. A stream is requested where somebody waits for it already. */
  async #send(route: string, body: object, isObserved: () => boolean): Promise<EventStream | undefined> {
    const { connection } = this.#engine.requests;
    // `await` calls `then` in a later microtask than the one that made this execution.
    for (let ticks = 0; ticks < 3; ticks += 1) await Promise.resolve();
    const json = { ...body, id: this.id };
    if (!isObserved()) {
      await this.#engine.requests.send("POST", route, { json, headers: { prefer: "respond-async" } });
      return undefined;
    }
    const backoff = connection.backoff();
    for (;;) {
      try {
        return await openEvents(connection, "POST", route, { body: jsonBody(json) });
      } catch (error) {
        if (!(error instanceof TemporaryFailure)) throw error;
        await backoff.wait(error, [connection.closing]);
      }
    }
  }
}

/** What an execution of this session printed. The arguments are checked. */
export function outputOf(
  requests: Requests,
  executionId: string,
  range: OutputRange,
  sessionId: string,
): Promise<OutputSlice> {
  const engine = new Engine(requests, executionKind(executionId));
  return readOutput(requests, () => engine.path(), range, sessionId);
}

function executionKind(id: string): WorkKind<Result, ExecutionEvent, ExecutionView> {
  const segment = toSegment(id);
  return {
    path: segment && `/v1/executions/${segment}`,
    notFound: () => new ExecutionNotFoundError({ executionId: id }),
    view: execution,
    outcomeOf: ({ state, result, problem: why }) => {
      if (state !== "ended") return undefined;
      if (result !== null) return { result: toResult(result) };
      return { error: why === undefined ? lost(id) : toError(why) };
    },
    event: executionEvent,
    ends: new Set(["execution-end", "execution-failed"]),
    mayReject: false,
    outcomeIn,
  };
}

function outcomeIn({ type, data }: StreamedEvent): Outcome<Result> | undefined {
  const { result, problem: why } = data as { readonly result?: unknown; readonly problem?: unknown };
  if (type === "execution-end" && executionResult(result)) return { result: toResult(result) };
  return type === "execution-failed" && problem(why) ? { error: toError(why) } : undefined;
}

function lost(id: string): Error {
  const detail = `Cannot get the result of execution '${id}': the server does not have it`;
  return new ServerRefusedError({ status: 410, problem: "OUTCOME_LOST", detail });
}
