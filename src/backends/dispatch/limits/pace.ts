// The pace of requests to one model, learned from what the provider accepts and rejects.
//
// Without rejections there is no limit. After the first one, the rate is what passed until then, and a search looks for the
// highest that is accepted. Requests go through a token bucket that imitates the provider's, so that what a pause held back is made
// up for where the provider allows it.

import { RateSearch, type Measured } from "./rate-search.ts";
import { TokenBucket } from "./token-bucket.ts";

/** A request that was sent. */
export interface PacedRequest {
  readonly sentAt: number;
  /** As `send` said. */
  readonly isSpaced: boolean;
}

/** While there is no limit, throughput is measured over about this time. */
const MEMORY_MS = 10_000;

export class Pace {
  readonly #bucket = new TokenBucket();
  #search: RateSearch | undefined;
  /** Requests since the last rejection was over, or since the lane was idle. */
  #since = 0;
  #sent = 0;
  #sentAt = 0;
  #rejected = 0;
  /** Those of them that used what the bucket had saved. */
  #ahead = 0;
  /** Requests sent before say nothing about the rate. */
  #changedAt = -Infinity;

  /** Requests per millisecond. Infinity: no limit is known. */
  get rate(): number {
    return this.#bucket.rate;
  }

  /** Requests since the last rejection was over that were not rejected themselves. */
  get passed(): number {
    return this.#sent - this.#rejected;
  }

  /** Milliseconds until the next request may be sent. */
  delayMs(now: number): number {
    return this.#bucket.delayMs(now);
  }

  /** True: the request follows another one at the distance of the rate, so its acceptance will say something about the rate. */
  send(now: number): boolean {
    if (this.#search === undefined) this.#forgetOld(now);
    else if (this.#rejected === 0 && now - this.#sentAt > 2 * this.#bucket.fillMs) this.#startOver(now); // it was idle
    this.#sentAt = now;
    this.#sent += 1;
    const isLast = this.#bucket.take(now);
    if (this.#search !== undefined && !isLast) this.#ahead += 1;
    return isLast || this.#bucket.savesUp;
  }

  /** It failed for another reason than a limit, which says nothing. */
  forget(): void {
    this.#sent -= 1;
  }

  /** True: it has changed. */
  accept({ sentAt, isSpaced }: PacedRequest, now: number): boolean {
    if (this.#search === undefined || !isSpaced || sentAt < this.#changedAt) return false;
    const { rate } = this.#search;
    this.#search.accept(now);
    if (this.#search.rate === rate) return false;
    this.#changeTo(this.#search.rate, now);
    return true;
  }

  reject(now: number): void {
    this.#rejected += 1;
    this.#changedAt = now;
    this.#bucket.drain(now);
  }

  /** The first requests after a time in which nothing passed: nothing is made up for. */
  restart(now: number): void {
    this.#bucket.drain(now);
  }

  /** The pause after a rejection is over. By now it is known how many requests passed until then. */
  resume(now: number): void {
    const passed = Math.max(1, Math.round(this.passed));
    const rate = passed / Math.max(1, now - this.#since);
    const measured = { rate, requests: passed, now, pauseMs: now - this.#changedAt };
    if (this.#search === undefined) {
      this.#search = new RateSearch(measured);
      this.#bucket.setBurst(passed - rate * (this.#changedAt - this.#since), { savesUp: false });
    } else if (this.#ahead > 1 && !this.#search.isProbe) this.#blameBurst(this.#search, measured);
    else this.#search.reject(measured);
    this.#startOver(now);
    this.#changeTo(this.#search.rate, now);
  }

  /** What came faster than the rate was rejected: the provider counts in windows of time, or allows no bursts at all. */
  #blameBurst(search: RateSearch, measured: Measured): void {
    const { burst, savesUp } = this.#bucket;
    this.#bucket.setBurst(savesUp ? 1 : burst, { savesUp: !savesUp });
    if (savesUp) search.reject(measured);
    else search.keep(measured);
  }

  #changeTo(rate: number, now: number): void {
    this.#bucket.setRate(rate, now);
    this.#changedAt = now;
  }

  #startOver(now: number): void {
    this.#since = now;
    this.#sent = 0;
    this.#rejected = 0;
    this.#ahead = 0;
  }

  #forgetOld(now: number): void {
    if (this.#sent === 0) this.#since = now;
    while (now - this.#since > MEMORY_MS) {
      this.#sent /= 2;
      this.#since = (now + this.#since) / 2;
    }
  }
}
