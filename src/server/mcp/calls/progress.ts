// Waiting for work that a call has started: until it ends, the patience of the call is over, or the client gives up.
//
// Nearly all work ends within a shortWait, and for so long nothing but its end is waited for: to listen to a request's signal and
// to set a timer of its own costs more than what is done most often.

import { onAbort } from "../../../util/async/on-abort.ts";
import type { ToolCall } from "../tools/tool-call.ts";

interface Watched {
  /** Settles when the work has ended, however it did. */
  readonly ended: Promise<unknown>;
  readonly waitMs: number;
  /** What it printed last, for whoever waits. */
  readonly lastLine: () => string;
}

/** True: it has ended. False: it goes on. Throws the reason of the request's signal when that is aborted first. */
export async function watch(watched: Watched, call: ToolCall): Promise<boolean> {
  call.signal.throwIfAborted();
  const startedAt = performance.now();
  return (await call.shortWait.suffices(watched.ended)) || watchOn(watched, call, startedAt);
}

const MOMENT_MS = 20;

/** One timer for all calls that begin before it fires. */
export class ShortWait {
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  /** True: it has ended. False: the shortWait is over. */
  suffices(ended: Promise<unknown>): Promise<boolean> {
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#end(), MOMENT_MS);
    return new Promise((resolve) => {
      const giveUp = (): void => resolve(false);
      this.#waiting.add(giveUp);
      const take = (): void => {
        this.#waiting.delete(giveUp);
        resolve(true);
      };
      ended.then(take, take);
    });
  }

  #end(): void {
    this.#timer = undefined;
    for (const giveUp of this.#waiting) giveUp();
    this.#waiting.clear();
  }
}

async function watchOn({ ended, waitMs, lastLine }: Watched, call: ToolCall, startedAt: number): Promise<boolean> {
  call.signal.throwIfAborted();
  const report = (): void => call.report?.(toMessage(performance.now() - startedAt, lastLine()));
  let stop = (): void => {};
  const progress = call.report === undefined ? undefined : setInterval(report, call.waits.progressMs);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<boolean>((resolve, reject) => {
      timer = setTimeout(() => resolve(false), waitMs - (performance.now() - startedAt));
      stop = onAbort(call.signal, () => reject(call.signal.reason as Error));
      void ended.then(
        () => resolve(true),
        () => resolve(true),
      );
    });
  } finally {
    stop();
    clearTimeout(timer);
    clearInterval(progress);
  }
}

function toMessage(elapsedMs: number, lastLine: string): string {
  const elapsed = `${Math.round(elapsedMs / 1000)} s`;
  return lastLine === "" ? elapsed : `${elapsed}: ${lastLine}`;
}
