// The time of one execution: when its output starts to be flushed, when its memory is watched, when its time is up.
//
// The limit counts time in which the code runs; while it waits for a call to the host the clock stands still. Most
// executions end before the first stage, so only one timer is set for them.

export interface ClockStages {
  /** The code has run long enough that somebody may be waiting to see its output. */
  readonly onFlush: () => void;
  /** It has run long enough to be able to do harm. */
  readonly onWatch: () => void;
  readonly onTimeout: () => void;
}

const FLUSH_AFTER_MS = 5;
const WATCH_AFTER_MS = 40;

export class ExecutionClock {
  readonly #stages: ClockStages;
  readonly #limitMs: number | null;
  readonly #started = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #stage: "flush" | "watch" | "limit" = "flush";
  #waiting = 0;
  #waitingSince = 0;
  #waitedMs = 0;

  constructor(limitMs: number | null, stages: ClockStages) {
    this.#limitMs = limitMs;
    this.#stages = stages;
    this.#arm(FLUSH_AFTER_MS);
  }

  get elapsedMs(): number {
    return performance.now() - this.#started;
  }

  /** The code waits for the host; calls may overlap. */
  pause(): void {
    if (this.#waiting++ === 0) this.#waitingSince = performance.now();
  }

  resume(): void {
    if (--this.#waiting === 0) {
      this.#waitedMs += performance.now() - this.#waitingSince;
      if (this.#stage === "limit") this.#armLimit();
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #arm(delayMs: number): void {
    const untilLimit = this.#limitMs === null ? MAX_TIMER_MS : Math.max(1, this.#remainingMs());
    this.#timer = setTimeout(() => this.#fire(), Math.min(delayMs, untilLimit, MAX_TIMER_MS));
  }

  #fire(): void {
    if (this.#limitMs !== null && this.#waiting === 0 && this.#remainingMs() <= 0) {
      this.#stages.onTimeout();
      return;
    }
    switch (this.#stage) {
      case "flush":
        this.#stage = "watch";
        this.#stages.onFlush();
        this.#arm(WATCH_AFTER_MS);
        break;
      case "watch":
        this.#stage = "limit";
        this.#stages.onWatch();
        this.#armLimit();
        break;
      case "limit":
        if (this.#waiting === 0) this.#armLimit(); // else armed again when the last call is answered
        break;
    }
  }

  #armLimit(): void {
    clearTimeout(this.#timer);
    if (this.#limitMs !== null) this.#arm(MAX_TIMER_MS);
  }

  #remainingMs(): number {
    return (this.#limitMs ?? 0) - (this.elapsedMs - this.#waitedMs);
  }
}

const MAX_TIMER_MS = 2 ** 31 - 1;
