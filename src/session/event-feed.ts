// Numbers the events of a session and sends them to its listeners. Output is decoded only if there are any.

import { StringDecoder } from "node:string_decoder";
import type { ResetReason, SessionEvent } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../protocol/ids.ts";
import type { Checkpoint, StateOrigin } from "../protocol/sessions.ts";
import type { Execution } from "./execution/execution.ts";

export type Listener = (event: SessionEvent) => void;

export class EventFeed {
  readonly #sessionId: SessionId;
  readonly #listeners = new Set<Listener>();
  readonly #decoders = new Map<string, StringDecoder>();
  #decoding: ExecutionId | undefined;
  #seq = 0;

  constructor(sessionId: SessionId) {
    this.#sessionId = sessionId;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: Listener): Disposable {
    const own: Listener = (event) => listener(event);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  send(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        // The session continues, and the listener's error is reported as uncaught.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** `stamp` is that of the same output in the events of the execution. */
  sendOutput(
    executionId: ExecutionId,
    stream: OutputStream,
    chunk: Buffer,
    { seq, time }: { readonly seq: number; readonly time: number },
  ): void {
    if (!this.hasListeners) return;
    if (this.#decoding !== executionId) {
      this.#decoding = executionId;
      this.#decoders.delete("stdout");
      this.#decoders.delete("stderr");
    }
    const text = this.#decode(stream, chunk);
    if (text !== "") {
      this.send({ type: "output-delta", sessionId: this.#sessionId, seq, time, executionId, stream, text });
    }
  }

  sendBackground(stream: OutputStream, chunk: Buffer): void {
    if (!this.hasListeners) return;
    const text = this.#decode(`background-${stream}`, chunk);
    if (text !== "") this.send({ type: "background-delta", ...this.#stamp(), stream, text });
  }

  sendQueued({ id: executionId, code, count: executionCount }: Execution): void {
    this.send({ type: "execution-queue", ...this.#stamp(), executionId, code, executionCount });
  }

  sendCheckpoint(checkpoint: Checkpoint): void {
    this.send({ type: "checkpoint-add", ...this.#stamp(), checkpoint });
  }

  sendDropped(checkpointId: string): void {
    this.send({ type: "checkpoint-drop", ...this.#stamp(), checkpointId });
  }

  sendFork(forkId: SessionId): void {
    this.send({ type: "session-fork", ...this.#stamp(), forkId });
  }

  sendReset(epoch: number, why: ResetReason, origin: StateOrigin): void {
    this.send({ type: "session-reset", ...this.#stamp(), epoch, why, ...origin });
  }

  sendEnd(why: string): void {
    this.send({ type: "session-end", ...this.#stamp(), why });
  }

  #stamp(): { readonly sessionId: SessionId; readonly seq: number; readonly time: number } {
    return { sessionId: this.#sessionId, seq: this.nextSeq(), time: Date.now() };
  }

  #decode(key: string, chunk: Buffer): string {
    let decoder = this.#decoders.get(key);
    if (decoder === undefined) this.#decoders.set(key, (decoder = new StringDecoder("utf8")));
    return decoder.write(chunk);
  }
}
