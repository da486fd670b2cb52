// The clock of the running execution: when to start flushing output, when to watch memory, when its time is up.
//
// Only time in which the code runs counts; the clock stops while the code waits for a call to the host. Most executions end within a few
// milliseconds, so the first timer is not cleared but shared by the executions that follow before it fires.

export interface ClockStages {
  /** The code has run long enough that a reader may be waiting for its output. */
  readonly onFlush: () => void;
  /** The code has run long enough to use up memory. */
  readonly onWatch: () => void;
  readonly onTimeout: () => void;
}

const FLUSH_AFTER_MS = 5;
export const WATCH_AFTER_MS = 40;
const MAX_TIMER_MS = 2 ** 31 - 1;

export class ExecutionClock {
  readonly #stages: ClockStages;
  #running = false;
  #started = 0;
  #limitMs = Infinity;
  #stage: "flush" | "watch" | "limit" = "flush";
  #openCalls = 0;
  #waitingSince = 0;
  #waitedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = 0;

  constructor(stages: ClockStages) {
    this.#stages = stages;
  }

  get elapsedMs(): number {
    return performance.now() - this.#started;
  }

  start(limitMs: number | null): void {
    this.#running = true;
    this.#started = performance.now();
    this.#limitMs = limitMs ?? Infinity;
    this.#stage = "flush";
    this.#openCalls = 0;
    this.#waitedMs = 0;
    this.#arm(this.#started);
  }

  stop(): void {
    this.#running = false;
    if (this.#timer === undefined || this.#timerDue - performance.now() <= FLUSH_AFTER_MS) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The code waits for a call to the host. Calls may overlap. */
  pause(): void {
    if (this.#openCalls++ === 0) this.#waitingSince = performance.now();
  }

  resume(): void {
    if (!this.#running || --this.#openCalls > 0) return;
    const now = performance.now();
    this.#waitedMs += now - this.#waitingSince;
    this.#arm(now);
  }

  /** Makes sure that a timer fires no later than the next stage or the limit. */
  #arm(now: number): void {
    const due = Math.min(this.#stageDue(), this.#limitDue());
    if (due === Infinity || (this.#timer !== undefined && this.#timerDue <= due)) return;
    clearTimeout(this.#timer);
    this.#timerDue = due;
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(1, due - now), MAX_TIMER_MS));
  }

  #fire(): void {
    this.#timer = undefined;
    if (!this.#running) return;
    const now = performance.now();
    if (now >= this.#limitDue()) {
      this.#running = false;
      this.#stages.onTimeout();
      return;
    }
    if (now >= this.#stageDue()) this.#enterNextStage();
    this.#arm(now);
  }

  #enterNextStage(): void {
    if (this.#stage === "flush") {
      this.#stage = "watch";
      this.#stages.onFlush();
    } else {
      this.#stage = "limit";
      this.#stages.onWatch();
    }
  }

  #stageDue(): number {
    switch (this.#stage) {
      case "flush":
        return this.#started + FLUSH_AFTER_MS;
      case "watch":
        return this.#started + WATCH_AFTER_MS;
      case "limit":
        return Infinity;
    }
  }

  #limitDue(): number {
    return this.#openCalls > 0 ? Infinity : this.#started + this.#waitedMs + this.#limitMs;
  }
}
