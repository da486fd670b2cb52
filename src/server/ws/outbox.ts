// The sending side of one WebSocket: bounded, and aware of a reader that takes nothing.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { Turns } from "../../util/async/event-loop-yield.ts";
import { SMALL_BYTES, type Share } from "./memory-budget.ts";
import type { ServerMessage } from "../../protocol/api/web-socket.ts";

/** What waits to be taken. Past it, events are left out; one that is larger itself is not held against the reader. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Replies are never left out: a reader that lets so much lie is gone. */
const MAX_REPLY_BYTES = 2 * MAX_WAITING_BYTES;
/** What is read again comes when less than this waits. */
const PACED_BYTES = 1024 * 1024;
/** The same while all of them together hold much. */
const TIGHT_WAITING_BYTES = 256 * 1024;
const TIGHT_PACED_BYTES = 64 * 1024;
/** A reader that takes nothing from one beat to the next but one is gone. */
const MAX_STUCK_BEATS = 2;

const AS_TEXT = { binary: false };

export class Outbox {
  readonly #webSocket: WebSocket;
  readonly #stream: Duplex;
  readonly #share: Share;
  readonly #onDrain: () => void;
  readonly #turns = new Turns();
  #waiting: (() => void)[] | undefined;
  /** Frames that come after what is being made ready. */
  #held: Buffer[] | undefined;
  /** Of the largest frame that is on its way, where it is larger than what may wait. */
  #largeBytes = 0;
  #sentBytes = 0;
  #takenBefore = 0;
  #stuckBeats = 0;
  #wasHeard = true;
  /** Of the last ping that is not answered yet. */
  #pinged: Buffer | undefined;

  /** `onDrain`: everything was taken. */
  constructor(webSocket: WebSocket, stream: Duplex, share: Share, onDrain: () => void) {
    this.#webSocket = webSocket;
    this.#stream = stream;
    this.#share = share;
    this.#onDrain = onDrain;
    stream.on("drain", () => this.#drained());
    webSocket.on("pong", () => this.hear());
    webSocket.once("close", () => this.#wake());
  }

  get isFull(): boolean {
    const most = this.#share.isTight ? TIGHT_WAITING_BYTES : MAX_WAITING_BYTES;
    return this.#webSocket.bufferedAmount > most + this.#largeBytes;
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  /** A frame that others may get, too. */
  send(frame: Buffer): void {
    if (this.#held !== undefined) {
      this.#held.push(frame);
      return;
    }
    this.#write(frame);
  }

  /** Something that must be heard: where it cannot be, the connection ends. Comes before what is held. */
  tell(message: ServerMessage): void {
    if (this.#webSocket.bufferedAmount > MAX_REPLY_BYTES + this.#largeBytes) {
      this.#webSocket.terminate();
      return;
    }
    this.#write(Buffer.from(JSON.stringify(message)));
  }

  /** What is sent meanwhile goes out after what is told meanwhile, and all of it in one piece. */
  together(work: () => void): void {
    this.#stream.cork();
    this.#held = [];
    try {
      work();
    } finally {
      const held = this.#held;
      this.#held = undefined;
      for (const frame of held) this.send(frame);
      this.#stream.uncork();
    }
  }

  /** Something that can wait. False: the socket has closed. */
  async sendPaced(frame: Buffer): Promise<boolean> {
    await this.#turns.next();
    await this.#room();
    if (!this.isOpen) return false;
    this.#turns.did(frame.length);
    this.send(frame);
    return true;
  }

  /** There was a sign of life. */
  hear(): void {
    this.#wasHeard = true;
  }

  /** Answers a ping: of those that come in one turn, or while much waits, the last alone. */
  pong(content: Buffer): void {
    this.hear();
    if (this.#pinged === undefined) setImmediate(() => this.#answerPing());
    this.#pinged = content;
  }

  /** Now and then: asks for a sign of life, and ends a connection that gave none since it was asked last. */
  beat(): void {
    const { bufferedAmount } = this.#webSocket;
    const taken = this.#sentBytes - bufferedAmount;
    // What the library sends by itself is not in the sum, which can only make the difference smaller.
    this.#stuckBeats = bufferedAmount > 0 && taken <= this.#takenBefore ? this.#stuckBeats + 1 : 0;
    const isGone = bufferedAmount > 0 ? this.#stuckBeats >= MAX_STUCK_BEATS : !this.#wasHeard;
    if (isGone) this.#webSocket.terminate();
    else if (bufferedAmount === 0 && this.isOpen) {
      this.#wasHeard = false;
      this.#webSocket.ping();
    }
    this.#takenBefore = this.#sentBytes - this.#webSocket.bufferedAmount;
  }

  #write(frame: Buffer): void {
    this.#sentBytes += frame.length;
    if (frame.length > MAX_WAITING_BYTES) this.#largeBytes = Math.max(this.#largeBytes, frame.length);
    if (!this.isOpen) return;
    if (this.#webSocket.bufferedAmount + frame.length <= SMALL_BYTES) this.#webSocket.send(frame, AS_TEXT);
    else this.#writeCounted(frame);
  }

  /** Resolves when there is room, or the socket has closed. */
  async #room(): Promise<void> {
    const most = this.#share.isTight ? TIGHT_PACED_BYTES : PACED_BYTES;
    if (!this.isOpen || this.#webSocket.bufferedAmount < most) return;
    await new Promise<void>((resolve) => void (this.#waiting ??= []).push(resolve));
  }

  #writeCounted(frame: Buffer): void {
    let taken = (): void => {};
    this.#webSocket.send(frame, AS_TEXT, () => taken());
    // Often the system takes it at once, of which nobody hears before the next turn.
    if (this.#webSocket.bufferedAmount > SMALL_BYTES) taken = this.#share.addOut(frame);
    else this.#share.clearOut();
  }

  #drained(): void {
    this.#largeBytes = 0;
    this.#answerPing();
    this.#wake();
    this.#onDrain();
  }

  /** Where much waits: later, when that was taken. */
  #answerPing(): void {
    const pinged = this.#pinged;
    if (pinged === undefined || !this.isOpen || this.#webSocket.bufferedAmount > TIGHT_PACED_BYTES) return;
    this.#pinged = undefined;
    this.#webSocket.pong(pinged);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const resolve of waiting ?? []) resolve();
  }
}
