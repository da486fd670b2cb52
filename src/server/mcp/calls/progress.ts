// Waits for work that a call has started: until it ends, the call's time is over, or the client cancels.

import { waitFor } from "../../../util/async/wait-for.ts";
import type { ToolCall } from "../tools/tool-call.ts";

interface Work {
  /** Settles when the work has ended. */
  readonly ended: Promise<unknown>;
  readonly waitMs: number;
  /** The last line of output, for progress notifications. */
  readonly lastLine: () => string;
}

/** True: the work has ended. False: it is still running. Throws the signal's reason when the request is aborted first. */
export async function waitForEnd(work: Work, call: ToolCall): Promise<boolean> {
  call.signal.throwIfAborted();
  const startedAt = performance.now();
  return (await call.shortWait.endsInTime(work.ended)) || waitWithProgress(work, call, startedAt);
}

async function waitWithProgress(
  { ended, waitMs, lastLine }: Work,
  call: ToolCall,
  startedAt: number,
): Promise<boolean> {
  const { signal, timings } = call;
  const report = (): void => call.report?.(toMessage(performance.now() - startedAt, lastLine()));
  const progress = call.report === undefined ? undefined : setInterval(report, timings.progressMs);
  try {
    const hasEnded = await waitFor(ended, waitMs - (performance.now() - startedAt), signal);
    if (!hasEnded) signal.throwIfAborted();
    return hasEnded;
  } finally {
    clearInterval(progress);
  }
}

function toMessage(elapsedMs: number, lastLine: string): string {
  const elapsed = `${Math.round(elapsedMs / 1000)} s`;
  return lastLine === "" ? elapsed : `${elapsed}: ${lastLine}`;
}
