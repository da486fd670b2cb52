// One execution's place in the queue of its session, and the listener to its kernel while it runs.

import type { HostCall } from "../../kernel/calls.ts";
import type { ExecutionSink, Outcome } from "../../kernel/kernel.ts";
import type { Stamp } from "../../output/transcript.ts";
import type { CallStart, DisplayPart, ExecutionEvent } from "../../protocol/events.ts";
import type { OutputStream } from "../../protocol/execution.ts";
import { Displays } from "./displays.ts";
import type { EventFeed } from "../event-feed.ts";
import type { Execution } from "./execution.ts";
import { answerInput, parseInputRequest } from "./input.ts";
import type { ExecuteOptions } from "../options.ts";
import { onAbort } from "../../util/async/on-abort.ts";

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
    if ((this.#displays ??= new Displays()).add(display)) {
      this.#append({ type: "display", ...this.#stamp(), ...display });
    }
  }

  // Written out, since code may make thousands of calls: an object that is made by spreading takes many times as long.

  onCall(call: number, name: string): void {
    const { sessionId, id: executionId } = this.execution;
    const seq = this.#feed.nextSeq();
    this.#append({ type: "call-start", sessionId, executionId, seq, time: Date.now(), call, name });
  }

  onReply(call: number, ok: boolean): void {
    const { sessionId, id: executionId } = this.execution;
    const seq = this.#feed.nextSeq();
    this.#append({ type: "call-end", sessionId, executionId, seq, time: Date.now(), call, ok });
  }

  async onInput(call: number, asked: HostCall): Promise<unknown> {
    const request = parseInputRequest(asked);
    this.#append({
      type: "input-start",
      ...this.#stamp(),
      call,
      prompt: request.prompt,
      password: request.password,
    });
    let answered = false;
    try {
      const answer = await answerInput(this.options.onInput, request);
      answered = answer !== null;
      return answer;
    } finally {
      if (!this.#isOver) this.#append({ type: "input-end", ...this.#stamp(), call, answered });
    }
  }

  onEnd(outcome: Outcome): void {
    this.#isOver = true;
    this.#onEnd(this, outcome);
  }

  #stamp(): Stamp & Pick<CallStart, "sessionId" | "executionId"> {
    const { sessionId, id: executionId } = this.execution;
    return { sessionId, executionId, seq: this.#feed.nextSeq(), time: Date.now() };
  }

  #append(event: ExecutionEvent): void {
    this.execution.appendEvent(event);
    this.#feed.send(event);
  }
}
