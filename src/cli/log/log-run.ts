// Writes the start and the end of a run to the log of a command. The question is in it at level `debug` only.

import type { Run } from "../../rlm/run.ts";
import type { RunResult } from "../../protocol/runs.ts";
import type { CommandLog } from "./command-log.ts";

const MAX_CHARACTERS = 500;

export function logRun(run: Run, log: CommandLog): void {
  const { id: runId, settings, result } = run;
  const { model, query } = settings;
  log.write("info", "run-start", { runId, model });
  log.write("debug", "run-question", { runId, query: query.slice(0, MAX_CHARACTERS) });
  const end = (ended?: RunResult): void => {
    const { status = "failed", stopReason, usage } = ended ?? {};
    const spent = usage && {
      durationMs: Math.round(usage.wallMs),
      tokens: usage.total.tokens,
      costUsd: usage.total.costUsd,
    };
    if (run.notRecorded !== undefined) log.write("warn", "run-not-recorded", { runId, why: run.notRecorded });
    log.write(status === "failed" ? "error" : "info", "run-end", { runId, status, stopReason, ...spent });
  };
  result.then(end, () => end());
}
