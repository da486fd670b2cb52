// Waiting for work that a call has started: until it ends, the patience of the call is over, or the client gives up.

import { onAbort } from "../../util/on-abort.ts";
import type { ToolCall } from "./tool-call.ts";

interface Watched {
  /** Settles when the work has ended, however it did. */
  readonly ended: Promise<unknown>;
  readonly waitMs: number;
  /** What it printed last, for whoever waits. */
  readonly lastLine: () => string;
}

/** True: it has ended. False: it goes on. Throws the reason of the request's signal when that is aborted first. */
export async function watch({ ended, waitMs, lastLine }: Watched, call: ToolCall): Promise<boolean> {
  call.signal.throwIfAborted();
  const startedAt = performance.now();
  const report = (): void => call.report?.(toMessage(performance.now() - startedAt, lastLine()));
  let stop = (): void => {};
  const progress = call.report === undefined ? undefined : setInterval(report, call.waits.progressMs);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<boolean>((resolve, reject) => {
      timer = setTimeout(() => resolve(false), waitMs);
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
