// Calls that wait for one model, in groups that take turns. Within a group, the oldest goes first.

import type { Slot } from "./lanes.ts";

export interface WaitingCall {
  /** Its age: the lower, the older. A call keeps it over all its attempts. */
  readonly ticket: number;
  /** Calls of one run, for example. */
  readonly group: object;
  readonly admit: (slot: Slot) => void;
  /** A request was rejected, or the lane became slower. Throws where the call does not want to wait on. */
  readonly reconsider: (ahead: number, isRejected: boolean) => void;
  readonly refuse: (error: unknown) => void;
}

export class WaitingCalls {
  readonly #groups = new Map<object, WaitingCall[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Most calls have the highest ticket; one that is attempted again belongs near the front. */
  add(call: WaitingCall): void {
    const calls = this.#groups.get(call.group) ?? [];
    const index = calls.findLastIndex(({ ticket }) => ticket < call.ticket);
    calls.splice(index + 1, 0, call);
    this.#groups.set(call.group, calls);
    this.#size += 1;
  }

  /** Does nothing for a call that is not here. */
  remove(call: WaitingCall): void {
    const calls = this.#groups.get(call.group);
    if (calls === undefined) return;
    const index = calls.indexOf(call);
    if (index === -1) return;
    if (index === 0) calls.shift();
    else calls.splice(index, 1);
    if (calls.length === 0) this.#groups.delete(call.group);
    this.#size -= 1;
  }

  /** The next call by the order given, which compares the oldest ones of two groups. */
  next(isBefore: (a: WaitingCall, b: WaitingCall) => boolean): WaitingCall | undefined {
    let next: WaitingCall | undefined;
    for (const [call] of this.#groups.values()) {
      if (call !== undefined && (next === undefined || isBefore(call, next))) next = call;
    }
    return next;
  }

  /** How many are older. */
  before(ticket: number): number {
    let before = 0;
    for (const calls of this.#groups.values()) before += calls.findLastIndex((call) => call.ticket < ticket) + 1;
    return before;
  }

  /** All of them, oldest first. */
  inOrder(): WaitingCall[] {
    return [...this.#groups.values()].flat().toSorted((a, b) => a.ticket - b.ticket);
  }
}
