// One execution's place in the queue of its session, and the listener to its kernel while it runs.

import type { HostCall } from "../kernel/calls.ts";
import type { ExecutionSink, Outcome } from "../kernel/kernel.ts";
import type { DisplayPart } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import { Displays } from "./displays.ts";
import type { EventFeed } from "./event-feed.ts";
import type { Execution } from "./execution.ts";
import { answerInput, parseInputRequest } from "./input.ts";
import type { ExecuteOptions } from "./options.ts";
import { onAbort } from "../util/on-abort.ts";

const NO_DISPLAYS = new Displays();

export class Turn implements ExecutionSink {
  readonly execution: Execution;
  readonly options: ExecuteOptions;
  /** Set when the caller has given up on it. */
  cancelled = false;
  readonly #feed: EventFeed;
  readonly #onEnd: (turn: Turn, outcome: Outcome) => void;
  #displays: Displays | undefined;
  #isOver = false;
  stopListening: () => void = () => {};

  constructor(
    execution: Execution,
    options: ExecuteOptions,
    feed: EventFeed,
    onEnd: (turn: Turn, outcome: Outcome) => void,
  ) {
    this.execution = execution;
    this.options = options;
    this.#feed = feed;
    this.#onEnd = onEnd;
  }

  /** Until the turn is over: a signal may serve many executions. */
  listenTo(signal: AbortSignal, cancel: () => void): void {
    this.stopListening = onAbort(signal, cancel);
  }

  get displays(): Displays {
    return this.#displays ?? NO_DISPLAYS;
  }

  onOutput(stream: OutputStream, chunk: Buffer): void {
    this.execution.appendOutput(stream, chunk, this.#feed.nextSeq(), Date.now());
    this.#feed.sendOutput(this.execution.id, stream, chunk);
  }

  onDisplay(display: DisplayPart): void {
    if ((this.#displays ??= new Displays()).add(display)) this.#append({ type: "display", ...display });
  }

  onCall(call: number, name: string): void {
    this.#append({ type: "call-start", call, name });
  }

  onReply(call: number, ok: boolean): void {
    this.#append({ type: "call-end", call, ok });
  }

  async onInput(call: number, asked: HostCall): Promise<unknown> {
    const request = parseInputRequest(asked);
    this.#append({ type: "input-start", call, prompt: request.prompt, password: request.password });
    let answered = false;
    try {
      const answer = await answerInput(this.options.onInput, request);
      answered = answer !== null;
      return answer;
    } finally {
      if (!this.#isOver) this.#append({ type: "input-end", call, answered });
    }
  }

  onEnd(outcome: Outcome): void {
    this.#isOver = true;
    this.#onEnd(this, outcome);
  }

  #append(
    part:
      | ({ readonly type: "display" } & DisplayPart)
      | { readonly type: "call-start"; readonly call: number; readonly name: string }
      | { readonly type: "call-end"; readonly call: number; readonly ok: boolean }
      | { readonly type: "input-start"; readonly call: number; readonly prompt: string; readonly password: boolean }
      | { readonly type: "input-end"; readonly call: number; readonly answered: boolean },
  ): void {
    const { id: executionId, sessionId } = this.execution;
    const event = { ...part, sessionId, executionId, seq: this.#feed.nextSeq(), time: Date.now() };
    this.execution.appendEvent(event);
    this.#feed.send(event);
  }
}
