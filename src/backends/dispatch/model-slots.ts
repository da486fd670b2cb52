// Concurrency slots for calls: a limit for all models together and one for each model, with one FIFO queue per model.
//
// A call never waits behind a call whose model is full or paused. Among models with a free slot, the oldest call goes first.

import { onAbort } from "../../util/async/on-abort.ts";
import type { Clock } from "./clock.ts";

interface Waiter {
  readonly ticket: number;
  readonly admit: () => void;
}

interface Lane {
  inFlight: number;
  pausedUntil: number;
  /** Ordered by ticket. */
  readonly queue: Waiter[];
  cancelTimer: (() => void) | null;
}

/** When there are more, those that are idle and no longer paused are removed. */
const MAX_LANES = 1000;

export class ModelSlots {
  readonly #maxInFlight: number;
  readonly #maxPerModel: number;
  readonly #clock: Clock;
  readonly #lanes = new Map<string, Lane>();
  #inFlight = 0;
  #tickets = 0;

  constructor(options: { readonly maxInFlight: number; readonly maxPerModel: number; readonly clock: Clock }) {
    this.#maxInFlight = options.maxInFlight;
    this.#maxPerModel = options.maxPerModel;
    this.#clock = options.clock;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return [...this.#lanes.values()].reduce((sum, { queue }) => sum + queue.length, 0);
  }

  /** The position of a call in the queue, which it keeps over all its attempts. */
  createTicket(): number {
    return this.#tickets++;
  }

  /** Milliseconds until the model may be called again. */
  pauseOf(model: string): number {
    return Math.max(0, (this.#lanes.get(model)?.pausedUntil ?? 0) - this.#clock.now());
  }

  /** Holds back all calls of this model. A pause is never shortened. */
  pause(model: string, ms: number): void {
    const lane = this.#laneOf(model);
    lane.pausedUntil = Math.max(lane.pausedUntil, this.#clock.now() + ms);
    this.#schedulePauseEnd(model, lane);
  }

  /** Returns an idempotent release function; undefined where no slot is free. Throws the signal's reason. */
  tryAcquire(model: string, ticket: number, signal: AbortSignal): (() => void) | undefined {
    signal.throwIfAborted();
    const lane = this.#laneOf(model);
    return this.#isNext(lane, ticket) ? this.#enter(model, lane) : undefined;
  }

  /** Resolves when a slot is free. Rejects with the signal's reason. */
  acquire(model: string, ticket: number, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const lane = this.#laneOf(model);
    if (this.#isNext(lane, ticket)) return Promise.resolve(this.#enter(model, lane));
    return new Promise<() => void>((resolve, reject) => {
      const unlisten = onAbort(signal, () => {
        remove(lane.queue, waiter);
        this.#removeIdle(model, lane);
        reject(signal.reason as Error);
      });
      const admit = (): void => {
        unlisten();
        resolve(this.#enter(model, lane));
      };
      const waiter: Waiter = { ticket, admit };
      insert(lane.queue, waiter);
      this.#schedulePauseEnd(model, lane);
      this.#admitWaiters();
    });
  }

  #enter(model: string, lane: Lane): () => void {
    lane.inFlight++;
    this.#inFlight++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      lane.inFlight--;
      this.#inFlight--;
      this.#admitWaiters();
      this.#removeIdle(model, lane);
    };
  }

  #isNext(lane: Lane, ticket: number): boolean {
    return this.#hasFreeSlot(lane) && (lane.queue[0]?.ticket ?? Infinity) > ticket;
  }

  #hasFreeSlot(lane: Lane): boolean {
    if (this.#inFlight >= this.#maxInFlight || lane.inFlight >= this.#maxPerModel) return false;
    return lane.pausedUntil <= this.#clock.now();
  }

  #admitWaiters(): void {
    for (let lane = this.#nextLane(); lane !== null; lane = this.#nextLane()) lane.queue.shift()?.admit();
  }

  #nextLane(): Lane | null {
    let next: Lane | null = null;
    let oldest = Infinity;
    if (this.#inFlight >= this.#maxInFlight) return null;
    for (const lane of this.#lanes.values()) {
      const ticket = lane.queue[0]?.ticket;
      if (ticket === undefined || ticket >= oldest || !this.#hasFreeSlot(lane)) continue;
      next = lane;
      oldest = ticket;
    }
    return next;
  }

  /** One timer per paused model, and only while calls wait for it. */
  #schedulePauseEnd(model: string, lane: Lane): void {
    lane.cancelTimer?.();
    lane.cancelTimer = null;
    const left = lane.pausedUntil - this.#clock.now();
    if (left <= 0 || lane.queue.length === 0) return;
    lane.cancelTimer = this.#clock.after(left, () => {
      this.#schedulePauseEnd(model, lane);
      this.#admitWaiters();
      this.#removeIdle(model, lane);
    });
  }

  #laneOf(model: string): Lane {
    const known = this.#lanes.get(model);
    if (known !== undefined) return known;
    if (this.#lanes.size >= MAX_LANES) for (const [name, idle] of this.#lanes) this.#removeIdle(name, idle);
    const lane: Lane = { inFlight: 0, pausedUntil: 0, queue: [], cancelTimer: null };
    this.#lanes.set(model, lane);
    return lane;
  }

  /** Names of models come from code inside sessions, so lanes must not pile up. */
  #removeIdle(model: string, lane: Lane): void {
    if (lane.queue.length > 0) return;
    lane.cancelTimer?.();
    lane.cancelTimer = null;
    if (lane.inFlight === 0 && lane.pausedUntil <= this.#clock.now()) this.#lanes.delete(model);
  }
}

/** Most calls have the highest ticket; a retried one belongs near the front. */
function insert(queue: Waiter[], waiter: Waiter): void {
  const index = queue.findLastIndex(({ ticket }) => ticket < waiter.ticket);
  queue.splice(index + 1, 0, waiter);
}

function remove(queue: Waiter[], waiter: Waiter): void {
  const index = queue.indexOf(waiter);
  if (index !== -1) queue.splice(index, 1);
}
