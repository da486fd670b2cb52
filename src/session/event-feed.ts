// Numbers the events of a session and gives them to whoever listens. Output is decoded only when somebody does.

import { StringDecoder } from "node:string_decoder";
import type { SessionEvent } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../protocol/ids.ts";

export type Listener = (event: SessionEvent) => void;

type Numbering = "sessionId" | "seq" | "time";
type Unnumbered<Event> = Event extends SessionEvent ? Omit<Event, Numbering> : never;
type Numbered<Draft> = Extract<SessionEvent, { type: Draft extends { type: infer Type } ? Type : never }>;

export class EventFeed {
  readonly #sessionId: SessionId;
  readonly #listeners = new Set<Listener>();
  #decoders = new Map<string, StringDecoder>();
  #decoding: ExecutionId | undefined;
  #seq = 0;

  constructor(sessionId: SessionId) {
    this.#sessionId = sessionId;
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

  emit<Draft extends Unnumbered<SessionEvent>>(draft: Draft): Numbered<Draft> {
    const event = { ...draft, sessionId: this.#sessionId, seq: this.nextSeq(), time: Date.now() };
    for (const listener of this.#listeners) listener(event);
    return event as unknown as Numbered<Draft>;
  }

  emitOutput(executionId: ExecutionId, stream: OutputStream, chunk: Buffer): void {
    if (this.#listeners.size === 0) return;
    if (this.#decoding !== executionId) {
      this.#decoding = executionId;
      this.#decoders.delete("stdout");
      this.#decoders.delete("stderr");
    }
    const text = this.#decode(stream, chunk);
    if (text !== "") this.emit({ type: "output-delta", executionId, stream, text });
  }

  emitBackground(stream: OutputStream, chunk: Buffer): void {
    if (this.#listeners.size === 0) return;
    const text = this.#decode(`background-${stream}`, chunk);
    if (text !== "") this.emit({ type: "background-delta", stream, text });
  }

  #decode(key: string, chunk: Buffer): string {
    let decoder = this.#decoders.get(key);
    if (decoder === undefined) this.#decoders.set(key, (decoder = new StringDecoder("utf8")));
    return decoder.write(chunk);
  }
}
