// The sending side of one WebSocket: limits what is buffered, and detects a reader that has stopped reading.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { EventLoopYield } from "../../util/async/event-loop-yield.ts";
import { MESSAGE_MEMORY, type Reservation } from "../net/memory-budget.ts";
import type { ServerMessage } from "../../protocol/api/web-socket.ts";

/** Past this, events are skipped. A single larger frame is not held against the reader. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
/** Replies are never skipped: a reader with this much unread is gone. */
const MAX_REPLY_BYTES = 2 * MAX_BUFFERED_BYTES;
/** Replayed events are sent when less than this is buffered. */
const REPLAY_BYTES = 1024 * 1024;
/** The same two limits while the memory budget is tight. */
const TIGHT_BUFFERED_BYTES = 256 * 1024;
const TIGHT_REPLAY_BYTES = 64 * 1024;
/** A reader that takes nothing for this many heartbeats is gone. */
const MAX_STUCK_HEARTBEATS = 2;

const { uncountedBytes: UNCOUNTED_BYTES } = MESSAGE_MEMORY;
const AS_TEXT = { binary: false };

export class Outbox {
  readonly #webSocket: WebSocket;
  readonly #stream: Duplex;
  readonly #memory: Reservation;
  readonly #onDrain: () => void;
  readonly #loop = new EventLoopYield();
  #waiters: (() => void)[] | undefined;
  /** Frames to send when a batch is complete. */
  #batch: Buffer[] | undefined;
  /** The size of the largest buffered frame, if it alone exceeds the limit. */
  #largeBytes = 0;
  #sentBytes = 0;
  #writtenBefore = 0;
  #stuckHeartbeats = 0;
  #isAlive = true;
  /** The content of the last ping that is not answered yet. */
  #pendingPing: Buffer | undefined;

  /** `onDrain`: the reader has taken everything. */
  constructor(webSocket: WebSocket, stream: Duplex, memory: Reservation, onDrain: () => void) {
    this.#webSocket = webSocket;
    this.#stream = stream;
    this.#memory = memory;
    this.#onDrain = onDrain;
    stream.on("drain", () => this.#drained());
    webSocket.on("pong", () => this.markAlive());
    webSocket.once("close", () => this.#wake());
  }

  get isFull(): boolean {
    const most = this.#memory.isTight ? TIGHT_BUFFERED_BYTES : MAX_BUFFERED_BYTES;
    return this.#webSocket.bufferedAmount > most + this.#largeBytes;
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  /** The frame may be shared with other sockets. */
  send(frame: Buffer): void {
    if (this.#batch !== undefined) {
      this.#batch.push(frame);
      return;
    }
    this.#write(frame);
  }

  /** For messages that must arrive: the connection ends when they cannot. Sent before frames of the current batch. */
  sendMessage(message: ServerMessage): void {
    if (this.#webSocket.bufferedAmount > MAX_REPLY_BYTES + this.#largeBytes) {
      this.#webSocket.terminate();
      return;
    }
    this.#write(Buffer.from(JSON.stringify(message)));
  }

  /** Writes what `work` sends at once, messages before frames. */
  batch(work: () => void): void {
    this.#stream.cork();
    this.#batch = [];
    try {
      work();
    } finally {
      const batch = this.#batch;
      this.#batch = undefined;
      for (const frame of batch) this.send(frame);
      this.#stream.uncork();
    }
  }

  /** Waits until the reader has caught up. False: the socket has closed. */
  async sendWhenReady(frame: Buffer): Promise<boolean> {
    await this.#loop.yieldIfDue();
    await this.#ready();
    if (!this.isOpen) return false;
    this.#loop.add(frame.length);
    this.send(frame);
    return true;
  }

  markAlive(): void {
    this.#isAlive = true;
  }

  /** Answers a ping. Of several in one event loop iteration, or while much is buffered, only the last is answered. */
  pong(content: Buffer): void {
    this.markAlive();
    if (this.#pendingPing === undefined) setImmediate(() => this.#answerPing());
    this.#pendingPing = content;
  }

  /** Called periodically: pings the client, and ends the connection when there was no sign of life since the last time. */
  heartbeat(): void {
    const { bufferedAmount } = this.#webSocket;
    const written = this.#sentBytes - bufferedAmount;
    // Frames that the library sends by itself are not in the sum, which can only make it smaller.
    this.#stuckHeartbeats = bufferedAmount > 0 && written <= this.#writtenBefore ? this.#stuckHeartbeats + 1 : 0;
    const isGone = bufferedAmount > 0 ? this.#stuckHeartbeats >= MAX_STUCK_HEARTBEATS : !this.#isAlive;
    if (isGone) this.#webSocket.terminate();
    else if (bufferedAmount === 0 && this.isOpen) {
      this.#isAlive = false;
      this.#webSocket.ping();
    }
    this.#writtenBefore = this.#sentBytes - this.#webSocket.bufferedAmount;
  }

  #write(frame: Buffer): void {
    this.#sentBytes += frame.length;
    if (frame.length > MAX_BUFFERED_BYTES) this.#largeBytes = Math.max(this.#largeBytes, frame.length);
    if (!this.isOpen) return;
    if (this.#webSocket.bufferedAmount + frame.length <= UNCOUNTED_BYTES) this.#webSocket.send(frame, AS_TEXT);
    else this.#writeCounted(frame);
  }

  /** Resolves when little is buffered, or the socket has closed. */
  async #ready(): Promise<void> {
    const most = this.#memory.isTight ? TIGHT_REPLAY_BYTES : REPLAY_BYTES;
    if (!this.isOpen || this.#webSocket.bufferedAmount < most) return;
    await new Promise<void>((resolve) => void (this.#waiters ??= []).push(resolve));
  }

  #writeCounted(frame: Buffer): void {
    let release = (): void => {};
    this.#webSocket.send(frame, AS_TEXT, () => release());
    // Often the system takes the frame at once, but the callback comes only in the next event loop iteration.
    if (this.#webSocket.bufferedAmount > UNCOUNTED_BYTES) release = this.#memory.hold(frame);
    else this.#memory.releaseBuffers();
  }

  #drained(): void {
    this.#largeBytes = 0;
    this.#answerPing();
    this.#wake();
    this.#onDrain();
  }

  /** While much is buffered: later, when it has drained. */
  #answerPing(): void {
    const ping = this.#pendingPing;
    if (ping === undefined || !this.isOpen || this.#webSocket.bufferedAmount > TIGHT_REPLAY_BYTES) return;
    this.#pendingPing = undefined;
    this.#webSocket.pong(ping);
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = undefined;
    for (const resolve of waiters ?? []) resolve();
  }
}
