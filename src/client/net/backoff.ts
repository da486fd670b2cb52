// Pauses between attempts, each longer than the one before, until too much time has passed without progress.

import { connectionError, type TemporaryFailure } from "./failure.ts";
import { sleep, type Clock } from "./clock.ts";

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

export interface BackoffOptions {
  readonly clock: Clock;
  readonly maxElapsedMs: number;
  /** Called once for each sequence of failures. */
  readonly onFirst: () => void;
}

export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;
  #since = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** There was progress: the next failure is the first one again. */
  reset(): void {
    this.#attempts = 0;
  }

  /** Resolves when it is time to try again, or at once when a signal is aborted. Throws when the time is up. */
  async wait(
    { error, retryAfterMs }: TemporaryFailure,
    signals: readonly AbortSignal[],
    isIdle = false,
  ): Promise<void> {
    const { clock, maxElapsedMs, onFirst } = this.#options;
    if (this.#attempts === 0) {
      this.#since = clock.now();
      onFirst();
    }
    const left = maxElapsedMs - (clock.now() - this.#since);
    if (left <= 0) {
      const tried = this.#attempts === 0 ? "" : ` (tried for ${Math.round(maxElapsedMs / 1000)} s)`;
      throw connectionError(error.url, `${error.message}${tried}`, error.cause ?? error);
    }
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#attempts);
    this.#attempts += 1;
    const pause = Math.max(retryAfterMs, longest * (0.5 + clock.random() / 2));
    await sleep(clock, Math.min(pause, left), signals, isIdle);
  }
}
