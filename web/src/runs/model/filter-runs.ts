// Which runs of the list are shown.

import type { RunInfo } from "rlm-runtime/client";

export type RunStatusFilter = "all" | RunInfo["status"];
type Filtered = Pick<RunInfo, "id" | "query" | "model" | "status">;

/** Each of the `words` is in the id, the question or the model. */
export function filterRuns<Info extends Filtered>(
  runs: readonly Info[],
  status: RunStatusFilter,
  words: string,
): readonly Info[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if (status !== "all" && run.status !== status) return false;
    const text = `${run.id} ${run.query} ${run.model}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
