// From what Python did to what a model is told of it.

import type { ExecutionTask, Runtime } from "../../runtime.ts";
import type { ExecutionResult, InterruptReason, StateAfter } from "../../protocol/execution.ts";
import type { Answer } from "./answer.ts";
import { showPrinted } from "./printed-text.ts";
import { showRich } from "./rich.ts";
import { cutMiddle, joinParts, toNote, toTime, toSeconds } from "./words.ts";

type Execution = ExecutionTask["execution"];

interface Ended {
  readonly runtime: Runtime;
  readonly execution: Execution;
  readonly result: ExecutionResult;
  readonly maxOutput: number;
}

export function toExecutionAnswer({ runtime, execution, result, maxOutput }: Ended): Answer {
  const { text: richText, images } = showRich(result);
  const rest = joinParts(richText, result.error?.traceback ?? "", toOutcome(result));
  const printed = {
    stdout: result.stdout,
    stderr: result.stderr,
    isWhole: result.truncated?.stdout === undefined && result.truncated?.stderr === undefined,
    toTask: () => runtime.tasks.adopt(execution),
  };
  const { text, cutFrom } = showPrinted(printed, rest, maxOutput);
  return {
    text: text === "" && images.length === 0 ? "[no output]" : text,
    images,
    isError: result.status === "error" || result.status === "interrupted",
    facts: { ...toFacts(execution, result), truncated: cutFrom !== undefined, task_id: cutFrom?.id ?? null },
    structured: toStructured(result, maxOutput),
    ...(cutFrom !== undefined && { linkTo: cutFrom }),
  };
}

function toFacts(execution: Execution, result: ExecutionResult): Record<string, unknown> {
  return {
    status: result.status,
    session_id: result.sessionId,
    execution_id: result.executionId,
    exit_code: result.exitCode ?? null,
    duration_ms: Math.round(result.durationMs),
    stdout_bytes: execution.output({ stream: "stdout", length: 0 }).totalBytes,
    stderr_bytes: execution.output({ stream: "stderr", length: 0 }).totalBytes,
    epoch: result.epoch,
    state: result.state,
    ...(result.reason !== undefined && { reason: result.reason }),
  };
}

function toStructured(result: ExecutionResult, maxOutput: number): Record<string, unknown> {
  const { stdout, stderr, value, error } = result;
  const within = (text: string): string => cutMiddle(text, maxOutput, "see task_id");
  return {
    stdout: within(stdout),
    stderr: within(stderr),
    value: value?.["text/plain"] === undefined ? null : within(value["text/plain"]),
    error:
      error === undefined ? null : { name: error.name, value: within(error.value), traceback: within(error.traceback) },
  };
}

/** How it ended, in words, where the rest does not say it. */
function toOutcome(result: ExecutionResult): string {
  const { status, exitCode = 0, incomplete, reason, state, durationMs } = result;
  switch (status) {
    case "ok":
      return toNote(toTime(durationMs));
    case "error":
      return joinParts(incomplete === true ? INCOMPLETE : "", toNote(toTime(durationMs)));
    case "exit":
      return joinParts(toNote(`exit ${exitCode}`, toTime(durationMs)), AFTERWARDS[state]);
    case "interrupted":
      return joinParts(toInterruption(reason ?? "worker-lost", durationMs), AFTERWARDS[state] || KEPT);
  }
}

const INCOMPLETE = "[The code ends in the middle of a statement. Nothing was run.]";
const KEPT = "[The session's variables are kept.]";

const AFTERWARDS: Readonly<Record<StateAfter, string>> = {
  kept: "",
  restored: "[The session's variables were restored from a checkpoint.]",
  lost: "[The session's variables were lost; the files in its working directory are still there.]",
};

function toInterruption(reason: InterruptReason, durationMs: number): string {
  const after = `after ${toSeconds(durationMs)} s`;
  switch (reason) {
    case "timeout":
      return `[Stopped ${after}: time limit. Give a larger timeout (seconds), or do it in parts.]`;
    case "cancelled":
      return `[Stopped ${after}: cancelled.]`;
    case "memory":
      return `[Stopped ${after}: out of memory. Work on less at a time.]`;
    case "worker-lost":
      return `[Stopped ${after}: the Python process ended.]`;
  }
}
