// How many requests to one model may be in flight.
//
// Begins at a moderate number and grows with each accepted request while it is the constraint, up to the configured limit. Where two
// rejections in a row leave the same number in flight, the provider seems to limit concurrency: that number is kept, and one more
// is probed at growing intervals, until that is accepted.

const START = 32;
const FIRST_PROBE_MS = 500;
const MAX_PROBE_MS = 8_000;
/** Probes accepted in a row that show that there is no such limit, though other requests ended meanwhile. */
const ENOUGH_PROBES = 4;

export class ConcurrencyWindow {
  readonly #max: number;
  #size: number;
  /** The limit of the provider. Infinity: it seems to have none. */
  #limit = Infinity;
  #probeAt = 0;
  #probeMs = FIRST_PROBE_MS;
  /** Probes accepted in a row. */
  #passed = 0;
  /** In flight after the last rejection. */
  #left = 0;

  constructor(max: number) {
    this.#max = max;
    this.#size = Math.min(max, START);
  }

  /** Milliseconds until another request may be in flight. Infinity: not before one ends. */
  delayMs(inFlight: number, now: number): number {
    if (inFlight >= this.#size || inFlight > this.#limit) return Infinity;
    return inFlight < this.#limit ? 0 : Math.max(0, this.#probeAt - now);
  }

  /** Whether the next request probes for a higher limit. */
  isProbe(inFlight: number): boolean {
    return inFlight >= this.#limit;
  }

  /** `hasOthers`: all that were in flight when the request was sent still are. True: the window may have grown. */
  accept(inFlight: number, isProbe: boolean, hasOthers: boolean): boolean {
    const size = this.#size;
    if (inFlight >= size) this.#size = Math.min(this.#max, size + 1);
    // Without the others, a probe may only have taken the place of one that ended.
    if (isProbe) this.#passed += hasOthers ? ENOUGH_PROBES : 1;
    if (this.#passed >= ENOUGH_PROBES) this.#setLimit(Infinity);
    return isProbe || this.#size > size;
  }

  /** So many are left in flight. True: the limit explains the rejection. */
  reject(inFlight: number, isProbe: boolean, now: number): boolean {
    if (isProbe || inFlight >= this.#limit) {
      if (isProbe) this.#probeMs = Math.min(MAX_PROBE_MS, this.#probeMs * 2);
      this.#passed = 0;
      this.#probeAt = now + this.#probeMs;
      return true;
    }
    const isSame = inFlight > 0 && isAbout(inFlight, this.#left) && this.#limit === Infinity;
    this.#setLimit(isSame ? Math.min(inFlight, this.#left) : Infinity);
    this.#probeAt = now + this.#probeMs;
    this.#left = inFlight;
    return false;
  }

  /** Another one of the same burst was rejected. */
  rejectAlso(inFlight: number): void {
    this.#left = Math.min(this.#left, inFlight);
    if (this.#limit !== Infinity) this.#limit = Math.max(1, Math.min(this.#limit, inFlight));
  }

  #setLimit(limit: number): void {
    if (this.#limit === Infinity) this.#probeMs = FIRST_PROBE_MS;
    this.#limit = limit;
    this.#passed = 0;
    this.#left = 0;
  }
}

/** Of more than a few, one may have ended at the provider and not yet here. */
function isAbout(a: number, b: number): boolean {
  return Math.abs(a - b) <= (Math.min(a, b) > 2 ? 1 : 0);
}
