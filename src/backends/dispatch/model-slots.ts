// How many calls are in flight, over all and for each model, and who is next.
//
// First come, first served, except that a call does not wait behind one whose model is full or paused. Where several models have
// room, the call that has waited longest goes first.

import { onAbort } from "../../util/async/on-abort.ts";
import type { Clock } from "./clock.ts";

interface Waiting {
  readonly ticket: number;
  readonly go: () => void;
}

interface Lane {
  inFlight: number;
  pausedUntil: number;
  /** By ticket, the longest waiting first. */
  readonly waiting: Waiting[];
  forgetTimer: (() => void) | null;
}

/** Models that were paused and nobody asked for since; more are looked through for those whose pause is over. */
const MAX_IDLE_LANES = 1000;

export class Slots {
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
    return [...this.#lanes.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** A place in the order, which a call keeps while it is tried again. */
  takeTicket(): number {
    return this.#tickets++;
  }

  /** Milliseconds until the model may be asked again. */
  pauseOf(model: string): number {
    return Math.max(0, (this.#lanes.get(model)?.pausedUntil ?? 0) - this.#clock.now());
  }

  /** Nobody asks this model for so long. A pause is never made shorter. */
  pause(model: string, ms: number): void {
    const lane = this.#laneOf(model);
    lane.pausedUntil = Math.max(lane.pausedUntil, this.#clock.now() + ms);
    this.#watchPause(model, lane);
  }

  /** How to give the slot back, which may be called more than once. Undefined: there is none now. Throws the signal's reason. */
  takeNow(model: string, ticket: number, signal: AbortSignal): (() => void) | undefined {
    signal.throwIfAborted();
    const lane = this.#laneOf(model);
    return this.#isNext(lane, ticket) ? this.#enter(model, lane) : undefined;
  }

  /** As `takeNow`, when there is one; rejects with the signal's reason. */
  take(model: string, ticket: number, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const lane = this.#laneOf(model);
    if (this.#isNext(lane, ticket)) return Promise.resolve(this.#enter(model, lane));
    return new Promise<() => void>((resolve, reject) => {
      const unlisten = onAbort(signal, () => {
        remove(lane.waiting, waiting);
        this.#tidy(model, lane);
        reject(signal.reason as Error);
      });
      const go = (): void => {
        unlisten();
        resolve(this.#enter(model, lane));
      };
      const waiting: Waiting = { ticket, go };
      insert(lane.waiting, waiting);
      this.#watchPause(model, lane);
      this.#admit();
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
      this.#admit();
      this.#tidy(model, lane);
    };
  }

  #isNext(lane: Lane, ticket: number): boolean {
    return this.#hasRoom(lane) && (lane.waiting[0]?.ticket ?? Infinity) > ticket;
  }

  #hasRoom(lane: Lane): boolean {
    if (this.#inFlight >= this.#maxInFlight || lane.inFlight >= this.#maxPerModel) return false;
    return lane.pausedUntil <= this.#clock.now();
  }

  #admit(): void {
    for (let lane = this.#nextLane(); lane !== null; lane = this.#nextLane()) lane.waiting.shift()?.go();
  }

  #nextLane(): Lane | null {
    let next: Lane | null = null;
    let best = Infinity;
    if (this.#inFlight >= this.#maxInFlight) return null;
    for (const lane of this.#lanes.values()) {
      const ticket = lane.waiting[0]?.ticket;
      if (ticket === undefined || ticket >= best || !this.#hasRoom(lane)) continue;
      next = lane;
      best = ticket;
    }
    return next;
  }

  /** One timer for a paused model, and only while somebody waits for it. */
  #watchPause(model: string, lane: Lane): void {
    lane.forgetTimer?.();
    lane.forgetTimer = null;
    const left = lane.pausedUntil - this.#clock.now();
    if (left <= 0 || lane.waiting.length === 0) return;
    lane.forgetTimer = this.#clock.after(left, () => {
      this.#watchPause(model, lane);
      this.#admit();
      this.#tidy(model, lane);
    });
  }

  #laneOf(model: string): Lane {
    const known = this.#lanes.get(model);
    if (known !== undefined) return known;
    if (this.#lanes.size >= MAX_IDLE_LANES) for (const [name, idle] of this.#lanes) this.#tidy(name, idle);
    const lane: Lane = { inFlight: 0, pausedUntil: 0, waiting: [], forgetTimer: null };
    this.#lanes.set(model, lane);
    return lane;
  }

  /** A model that nobody uses, waits for or must leave alone is forgotten: names come from code inside sessions. */
  #tidy(model: string, lane: Lane): void {
    if (lane.waiting.length > 0) return;
    lane.forgetTimer?.();
    lane.forgetTimer = null;
    if (lane.inFlight === 0 && lane.pausedUntil <= this.#clock.now()) this.#lanes.delete(model);
  }
}

/** Most come with the highest ticket; one that is tried again belongs near the front. */
function insert(waiting: Waiting[], one: Waiting): void {
  const at = waiting.findLastIndex(({ ticket }) => ticket < one.ticket);
  waiting.splice(at + 1, 0, one);
}

function remove(waiting: Waiting[], one: Waiting): void {
  const at = waiting.indexOf(one);
  if (at !== -1) waiting.splice(at, 1);
}
