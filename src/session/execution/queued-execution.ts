// The queue entry of one execution, and the listener to its kernel while it runs.

import type { HostCall } from "../../api/local.ts";
import type { ExecutionListener } from "../../kernel/listeners.ts";
import type { Outcome } from "../../kernel/outcome.ts";
import type { Stamp } from "../../output/transcript.ts";
import type { CallStart, DisplayPart, ExecutionEvent } from "../../protocol/events.ts";
import type { OutputStream } from "../../protocol/execution.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { EventFeed } from "../event-feed.ts";
import type { ExecuteOptions } from "../options.ts";
import { Displays } from "./displays.ts";
import type { Execution } from "./execution.ts";
import { answerInput, parseInputRequest } from "./input.ts";

const NO_DISPLAYS = new Displays();

export class QueuedExecution implements ExecutionListener {
  readonly execution: Execution;
  readonly options: ExecuteOptions;
  isCancelled = false;
  /** Stops listening to the caller's signal, which may serve many executions. */
  readonly stopListening: () => void;
  readonly #feed: EventFeed;
  readonly #onEnd: (entry: QueuedExecution, outcome: Outcome) => void;
  #displays: Displays | undefined;
  #isOver = false;

  constructor(
    execution: Execution,
    options: ExecuteOptions,
    feed: EventFeed,
    onEnd: (entry: QueuedExecution, outcome: Outcome) => void,
  ) {
    this.execution = execution;
    this.options = options;
    this.#feed = feed;
    this.#onEnd = onEnd;
    this.stopListening = onAbort(options.signal, () => execution.cancel());
  }

  get displays(): Displays {
    return this.#displays ?? NO_DISPLAYS;
  }

  /** The session could not run it at all. */
  fail(error: Error): void {
    this.stopListening();
    this.execution.fail(error);
  }

  get isOnePlace(): boolean {
    return this.options.receiver?.isOnePlace ?? false;
  }

  /** Whether one stream may be read while the other is not. */
  get isApart(): boolean {
    return this.options.receiver !== undefined && !this.isOnePlace;
  }

  onOutput(stream: OutputStream, chunk: Buffer): Promise<void> | undefined {
    const seq = this.#feed.nextSeq();
    const time = Date.now();
    this.execution.appendOutput(stream, chunk, seq, time);
    this.#feed.sendOutput(this.execution.id, stream, chunk, { seq, time });
    return this.options.receiver?.onOutput(stream, chunk);
  }

  onDisplay(display: DisplayPart): Promise<void> | undefined {
    if ((this.#displays ??= new Displays()).add(display)) {
      this.#append({ type: "display", ...this.#stamp(), ...display });
    }
    return this.options.receiver?.onDisplay(display);
  }

  // Spelled out because code may make thousands of calls, and objects made by spreading are many times slower.

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

  async onInput(call: number, hostCall: HostCall): Promise<unknown> {
    const request = parseInputRequest(hostCall);
    const { prompt, password } = request;
    this.#append({ type: "input-start", ...this.#stamp(), call, prompt, password });
    let answered = false;
    try {
      const answer = await answerInput(this.options.onInput, request, call, this.execution.pendingInput);
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
