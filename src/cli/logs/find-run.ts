// The run that a command names: by its id, the beginning of its id, or as the last one.

import type { RunId } from "../../protocol/ids.ts";
import { findRun, listRuns } from "../../store/runs/recorded-runs.ts";
import { UsageError } from "../options/usage-error.ts";

/** The run that started last. */
const LAST = "last";

/** Throws a UsageError. */
export async function findNamedRun(name: string): Promise<RunId> {
  if (name === LAST) {
    const [latest] = await listRuns();
    if (latest === undefined) throw new UsageError("no runs are recorded yet: 'rlm run --demo' records one");
    return latest.id;
  }
  try {
    return await findRun(name);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. Run 'rlm logs' to see them`);
  }
}
