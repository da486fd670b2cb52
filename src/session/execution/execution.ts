// One piece of code run in a session: a transcript that can be iterated, and a result.

import type { OutputLimits } from "../../output/output-log.ts";
import { Transcript, type Stamp } from "../../output/transcript.ts";
import type { ExecutionEnd, ExecutionEvent, ExecutionStart } from "../../protocol/events.ts";
import type { ExecutionResult, OutputStream } from "../../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../../protocol/ids.ts";
import { deferred } from "../../util/async/deferred.ts";
import type { Result } from "../../api/result-view.ts";
import { sizeOfBundle, sizeOfResult } from "../result.ts";
import { PendingInput } from "./input.ts";

export class Execution extends Transcript<ExecutionEvent> {
  readonly #result = deferred<Result>();
  readonly id: ExecutionId;
  readonly sessionId: SessionId;
  readonly code: string;
  /** Its number in the session. */
  readonly count: number;
  /** Never rejects because of what the code did; rejects when the session could not run it at all. */
  readonly result = this.#result.promise;
  /** What waits for a line of input. */
  readonly pendingInput = new PendingInput();
  /** Set by the session. */
  onCancel: () => void = () => {};
  /** In displays and prompts, those that were replaced included. */
  #eventCharacters = 0;
  #started: Stamp | undefined;
  #ended: (Stamp & { readonly result: Result }) | undefined;

  constructor(id: ExecutionId, sessionId: SessionId, count: number, code: string, limits: OutputLimits) {
    super(limits);
    this.id = id;
    this.sessionId = sessionId;
    this.count = count;
    this.code = code;
  }

  /** Interrupts it, as Ctrl-C would; while it waits in the queue, it never starts. Does nothing once it has ended. */
  cancel(): void {
    if (this.#ended === undefined) this.onCancel();
  }

  /** In milliseconds since the epoch. Undefined: it waits in the queue. */
  get startedAt(): number | undefined {
    return this.#started?.time;
  }

  /** Undefined: it has not ended, or the session could not run it. */
  get outcome(): Result | undefined {
    return this.#ended?.result;
  }

  /** Of its code, its events and its result, approximately: in characters. */
  get size(): number {
    return this.sizeWith(this.outcome);
  }

  /** The same, with the result that it is about to have. */
  sizeWith(result: ExecutionResult | undefined): number {
    return this.code.length + this.#eventCharacters + (result === undefined ? 0 : sizeOfResult(result));
  }

  override appendEvent(event: ExecutionEvent): void {
    if (event.type === "display") this.#eventCharacters += sizeOfBundle(event.data);
    if (event.type === "input-start") this.#eventCharacters += event.prompt.length;
    super.appendEvent(event);
  }

  get isOver(): boolean {
    return this.isComplete;
  }

  /** Called by the session, as are the methods below. */
  start(seq: number, time: number): void {
    this.#started = { seq, time };
    this.begin();
  }

  settle(result: Result, seq: number, time: number): void {
    this.#ended = { result, seq, time };
    this.end();
    this.#result.resolve(result);
  }

  fail(reason: Error): void {
    this.end();
    this.result.catch(() => {}); // no unhandled rejection for callers that ignore the result
    this.#result.reject(reason);
  }

  override startEvent(): ExecutionStart {
    const { seq, time } = this.#started ?? { seq: 0, time: 0 };
    const { sessionId, id: executionId, code, count: executionCount } = this;
    return { type: "execution-start", sessionId, executionId, seq, time, code, executionCount };
  }

  /** Only once settled. */
  endEvent(): ExecutionEnd {
    if (this.#ended === undefined)
      throw new TypeError(`Cannot make the end event of execution ${this.id}: it has not ended`);
    const { seq, time, result } = this.#ended;
    return { type: "execution-end", sessionId: this.sessionId, executionId: this.id, seq, time, result };
  }

  protected override lastEvent(): ExecutionEvent | undefined {
    return this.#ended === undefined ? undefined : this.endEvent();
  }

  protected override deltaEvent({ seq, time }: Stamp, stream: OutputStream, text: string): ExecutionEvent {
    return { type: "output-delta", sessionId: this.sessionId, executionId: this.id, seq, time, stream, text };
  }

  protected override gapEvent({ seq, time }: Stamp, stream: OutputStream, omittedBytes: number): ExecutionEvent {
    return { type: "output-gap", sessionId: this.sessionId, executionId: this.id, seq, time, stream, omittedBytes };
  }
}
