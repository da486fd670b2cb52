// Says that the context is being read, where that takes long.

import { formatSeconds } from "../../../util/text/format.ts";
import { openStatusLine } from "../status-line.ts";

const QUIET_MS = 2_000;

/** Shows nothing in the first two seconds. */
export async function whileReading<Value>(work: Promise<Value>, quiet = false): Promise<Value> {
  const startedAt = performance.now();
  using _ = openStatusLine(() => describeReading(performance.now() - startedAt), quiet);
  return await work;
}

export function describeReading(elapsedMs: number): string {
  return elapsedMs < QUIET_MS ? "" : `reading the context: ${formatSeconds(elapsedMs).replace(/\.\d(?= s$)/, "")}`;
}
