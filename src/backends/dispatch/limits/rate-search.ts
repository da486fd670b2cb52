// The search for the highest rate of requests that a provider accepts.
//
// The rate doubles until it is rejected. Then probes approach the rejected one in ever smaller steps, and ever more rarely, because a
// probe that fails costs a pause. After a while without rejections it probes again, since limits change and others may use the same one.

/** What passed until a rejection, and the pause after it. */
export interface Measured {
  /** Requests per millisecond. */
  readonly rate: number;
  /** From how many requests that was measured. */
  readonly requests: number;
  /** When the pause was over, and how long it was. */
  readonly now: number;
  readonly pauseMs: number;
}

/** A rate this close to a rejected one is as good as it. */
const CLOSE = 1.1;
/** For a rate that was sustained and is rejected all the same: others use the same limit, or it has changed. */
const DECREASE = 0.9;
/** One a minute: with less, the pauses after rejections are all that is needed. */
const MIN_RATE = 1 / 60_000;
/** Requests accepted at a rate after which it counts as sustained. */
const SUSTAINED = 2;
/** How much rarer probes become with each one that fails. */
const CAUTION = 4;
/** Requests accepted before a higher rate is probed. */
const MAX_PATIENCE = 64;
/** A probe is made after this many times the pause that the last one cost, however few requests were accepted meanwhile. */
const PAUSES = 15;
const MIN_PROBE_MS = 5_000;
const MAX_PROBE_MS = 60_000;

export class RateSearch {
  #rate: number;
  /** The highest rate that is known to be accepted, or believed to be. */
  #good: number;
  #isSustained = false;
  /** The lowest rate that was rejected. */
  #bad = Infinity;
  /** Requests accepted at the rate, and how many it takes before another one is tried. */
  #streak = 0;
  #patience: number;
  #changedAt: number;
  #probeMs: number;

  constructor(measured: Measured) {
    this.#rate = measured.rate;
    this.#good = measured.rate;
    this.#patience = toPatience(measured.requests);
    this.#changedAt = measured.now;
    this.#probeMs = toProbeMs(measured);
  }

  get rate(): number {
    return this.#rate;
  }

  /** The rate is higher than what is known to be accepted. */
  get isProbe(): boolean {
    return this.#rate > this.#good;
  }

  /** A request at this rate was accepted. */
  accept(now: number): void {
    this.#streak += 1;
    if (!this.isProbe && this.#streak >= SUSTAINED) this.#isSustained = true;
    if (!this.#isDue(now)) return;
    this.#streak = 0;
    this.#changedAt = now;
    const wasProbe = this.isProbe;
    if (wasProbe) this.#settle();
    if (!wasProbe || !this.#isClose) this.#rate = this.#nextRate();
  }

  /** The rate was rejected. */
  reject(measured: Measured): void {
    const { isProbe } = this;
    this.#bad = this.#rate;
    if (isProbe) this.#patience = toPatience(this.#patience * CAUTION);
    else if (this.#isSustained) this.#good = Math.max(MIN_RATE, this.#good * DECREASE);
    else {
      this.#good = Math.max(MIN_RATE, Math.min(this.#good * DECREASE, measured.rate));
      this.#patience = toPatience(measured.requests);
    }
    if (!isProbe) this.#isSustained = false;
    this.keep(measured);
  }

  /** Something else was rejected: back to the rate that is known to be accepted. */
  keep(measured: Measured): void {
    this.#rate = this.#good;
    this.#streak = 0;
    this.#changedAt = measured.now;
    this.#probeMs = toProbeMs(measured);
  }

  #isDue(now: number): boolean {
    if (this.#streak >= SUSTAINED && now - this.#changedAt >= this.#probeMs) return true;
    return this.#streak >= this.#patience && (this.isProbe || !this.#isClose);
  }

  /** The probed rate is accepted. */
  #settle(): void {
    this.#good = this.#rate;
    this.#isSustained = true;
    if (this.#rate < this.#bad) return;
    this.#bad = Infinity;
    this.#patience = 1;
  }

  #nextRate(): number {
    if (this.#bad === Infinity) return this.#good * 2;
    return this.#isClose ? this.#bad : Math.sqrt(this.#good * this.#bad);
  }

  get #isClose(): boolean {
    return this.#bad / this.#good <= CLOSE;
  }
}

function toPatience(requests: number): number {
  return Math.min(MAX_PATIENCE, Math.max(1, Math.round(requests)));
}

function toProbeMs({ pauseMs }: Measured): number {
  return Math.min(MAX_PROBE_MS, Math.max(MIN_PROBE_MS, PAUSES * pauseMs));
}
