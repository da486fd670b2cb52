// The lanes of all models, and the calls that wait for them: which one is sent next, and when.
//
// A call never waits behind one whose model is full, slow or paused. Groups of calls, such as runs, take turns; within a group the oldest
// call goes first.

import { checkCount } from "../../util/check-number.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Backend } from "../backend.ts";
import type { RateLimits } from "../rate-limits.ts";
import type { Clock } from "./clock.ts";
import { Lane, type LaneOptions, type LaneRequest, type Rejection } from "./limits/lane.ts";
import { WaitingCalls, type WaitingCall } from "./waiting-calls.ts";

/** The right to one request in flight. */
export interface Slot {
  readonly open: OpenLane;
  readonly request: LaneRequest;
}

/** A call that wants a slot. */
export interface Applicant extends Pick<WaitingCall, "ticket" | "group" | "reconsider"> {
  readonly signal: AbortSignal;
}

export interface OpenLane {
  readonly key: string;
  readonly lane: Lane;
  readonly calls: WaitingCalls;
  timer: { readonly at: number; readonly cancel: () => void } | undefined;
}

/** When there are more, those that nobody uses are forgotten, with what they have learned. */
const MAX_LANES = 1000;
/** Less than this is now: delays have rounding errors. */
const SOON_MS = 0.01;

export class Lanes {
  readonly #options: LaneOptions;
  readonly #clock: Clock;
  readonly #lanes = new Map<string, OpenLane>();
  readonly #waiting = new Set<OpenLane>();
  readonly #backends = new WeakMap<Backend, number>();
  readonly #turns = new WeakMap<object, number>();
  #opened = 0;
  #admitted = 0;
  #inFlight = 0;
  #tickets = 0;

  constructor({ clock, ...options }: LaneOptions & { readonly clock: Clock }) {
    checkCount("maxConcurrency", options.maxConcurrency, 1);
    this.#options = options;
    this.#clock = clock;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return [...this.#waiting].reduce((sum, { calls }) => sum + calls.size, 0);
  }

  /** The position of a call among those that wait, which it keeps over all its attempts. */
  createTicket(): number {
    return this.#tickets++;
  }

  laneOf(backend: Backend, model: string): OpenLane {
    const key = `${this.#numberOf(backend)} ${model}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    if (this.#lanes.size >= MAX_LANES) this.#forgetIdle();
    const open = { key, lane: new Lane(this.#options), calls: new WaitingCalls(), timer: undefined };
    this.#lanes.set(key, open);
    return open;
  }

  /** Undefined: it has to wait. Throws the signal's reason. */
  tryEnter(open: OpenLane, { signal, group }: Applicant): Slot | undefined {
    signal.throwIfAborted();
    if (open.calls.size > 0 || !this.#isReady(open.lane)) return undefined;
    return this.#enter(open, group);
  }

  /** Rejects with the signal's reason, or with what `reconsider` throws. */
  enter(open: OpenLane, applicant: Applicant): Promise<Slot> {
    const { signal } = applicant;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise<Slot>((resolve, reject) => {
      const unlisten = onAbort(signal, () => {
        this.#leave(open, call);
        reject(signal.reason as Error);
      });
      const admit = (slot: Slot): void => {
        unlisten();
        resolve(slot);
      };
      const refuse = (error: unknown): void => {
        unlisten();
        reject(error);
      };
      const { ticket, group, reconsider } = applicant;
      const call: WaitingCall = { ticket, group, reconsider, admit, refuse };
      open.calls.add(call);
      this.#waiting.add(open);
      this.#admitCalls();
    });
  }

  /** The provider accepted the request, which has so many tokens. */
  accept({ open, request }: Slot, limits: RateLimits | undefined, tokens: number): void {
    if (open.lane.accept(request, limits, tokens, this.#clock.now())) this.#admitCalls();
  }

  /** The request is over, and was rejected or not. Call once. */
  end({ open, request }: Slot, rejection: Rejection | undefined): void {
    this.#inFlight -= 1;
    open.lane.end(request, rejection, this.#clock.now());
    if (rejection !== undefined && open.lane.takeSlowdown()) this.#reconsider(open, true);
    this.#admitCalls();
  }

  #enter(open: OpenLane, group: object): Slot {
    const request = open.lane.send(this.#clock.now());
    this.#inFlight += 1;
    this.#turns.set(group, this.#admitted++);
    return { open, request };
  }

  /** Some calls may not want to wait any more. */
  #reconsider(open: OpenLane, isRejected: boolean): void {
    for (const [ahead, call] of open.calls.inOrder().entries()) {
      try {
        call.reconsider(ahead, isRejected);
      } catch (error) {
        this.#leave(open, call);
        call.refuse(error);
      }
    }
  }

  #admitCalls(): void {
    if (this.#waiting.size === 0 || this.#inFlight >= this.#options.maxConcurrency) return;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { open, call } = next;
      this.#leave(open, call);
      call.admit(this.#enter(open, call.group));
    }
    if (this.#inFlight >= this.#options.maxConcurrency) return; // it waits for others to end
    for (const open of this.#waiting) {
      if (open.lane.takeSlowdown()) this.#reconsider(open, false);
      this.#schedule(open);
    }
  }

  #next(): { readonly open: OpenLane; readonly call: WaitingCall } | undefined {
    let next: { readonly open: OpenLane; readonly call: WaitingCall } | undefined;
    for (const open of this.#waiting) {
      if (!this.#isReady(open.lane)) continue;
      const call = open.calls.next(this.#isBefore);
      if (call !== undefined && (next === undefined || this.#isBefore(call, next.call))) next = { open, call };
    }
    return next;
  }

  /** The group that has waited longest for a turn, and the older of two calls of one group. */
  readonly #isBefore = (a: WaitingCall, b: WaitingCall): boolean => {
    const [turnOfA = -1, turnOfB = -1] = [this.#turns.get(a.group), this.#turns.get(b.group)];
    return turnOfA === turnOfB ? a.ticket < b.ticket : turnOfA < turnOfB;
  };

  #isReady(lane: Lane): boolean {
    return this.#inFlight < this.#options.maxConcurrency && lane.delayMs(this.#clock.now()) < SOON_MS;
  }

  /** One timer per lane, and only while calls wait for it. */
  #schedule(open: OpenLane): void {
    const now = this.#clock.now();
    const at = open.calls.size === 0 ? Infinity : now + open.lane.delayMs(now);
    if (open.timer?.at === at) return;
    open.timer?.cancel();
    open.timer = undefined;
    if (at === Infinity) return; // it waits for others to end
    // Also where no time is left: the lane may have become ready since it was looked at, and nothing else would look again.
    const cancel = this.#clock.after(Math.max(0, at - now), () => {
      open.timer = undefined;
      this.#admitCalls();
    });
    open.timer = { at, cancel };
  }

  #leave(open: OpenLane, call: WaitingCall): void {
    open.calls.remove(call);
    if (open.calls.size > 0) return;
    this.#waiting.delete(open);
    this.#schedule(open);
  }

  #numberOf(backend: Backend): number {
    const known = this.#backends.get(backend) ?? this.#opened++;
    this.#backends.set(backend, known);
    return known;
  }

  /** Names of models come from code inside sessions, so lanes must not pile up. */
  #forgetIdle(): void {
    for (const [key, { lane, calls }] of this.#lanes) {
      if (lane.inFlight === 0 && calls.size === 0) this.#lanes.delete(key);
    }
  }
}
