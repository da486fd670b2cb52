// From what Python did to what a model is told of it.

import type { Runtime } from "../../../runtime.ts";
import type { ExecutionTask } from "../../../tasks/execution-task.ts";
import type { ExecutionResult, InterruptReason, StateAfter } from "../../../protocol/execution.ts";
import type { Answer } from "./result.ts";
import { cutEnds, cutMiddle, toEnds, wholeText } from "./cut-ends.ts";
import type { Images } from "./images.ts";
import { showPrinted } from "./output.ts";
import { showRich, type Rich } from "./rich.ts";
import { cutValue, isLastValue, showValue, type ValueOptions } from "./value.ts";
import { formatSeconds } from "../../../util/text/format.ts";
import { joinParts, NO_OUTPUT, toNote, toTime, toUsageFacts } from "./format.ts";

type Execution = ExecutionTask["execution"];

interface Ended {
  readonly runtime: Runtime;
  readonly images: Images;
  readonly execution: Execution;
  readonly result: ExecutionResult;
  readonly maxOutput: number;
  /** Whether its session ends with it. */
  readonly isOnce?: boolean;
}

export async function toExecutionAnswer(ended: Ended): Promise<Answer> {
  const { runtime, images, execution, result, maxOutput, isOnce = false } = ended;
  const rich = await showRich(result, images);
  const printed = {
    stdout: result.stdout,
    stderr: result.stderr,
    isWhole: result.truncated?.stdout === undefined && result.truncated?.stderr === undefined,
    toTask: () => runtime.tasks.adopt(execution),
  };
  const values = {
    maxCharacters: maxOutput,
    isReadable: () => rich.isRepr && !isOnce && isLastValue(runtime, result),
  };
  const { text, cutFrom } = showPrinted(printed, toRest(result, rich, values), maxOutput);
  const isValueCut = result.truncated?.value !== undefined || rich.value.length > maxOutput;
  const answer = {
    text: text === "" && rich.images.length === 0 ? NO_OUTPUT : text,
    images: rich.images,
    isError: result.status === "error" || result.status === "interrupted",
    facts: toFacts(execution, result, cutFrom !== undefined || isValueCut, cutFrom?.id ?? null),
    structured: () => toStructured(result, values),
  };
  return cutFrom === undefined ? answer : { ...answer, linkTo: cutFrom };
}

/** What comes after the output. Where there is a lot of that, too, it has half of the room, else all that is left. */
function toRest(result: ExecutionResult, { displayed, value, left }: Rich, values: ValueOptions): string {
  const { stdout, stderr, error } = result;
  const { maxCharacters, isReadable } = values;
  const end = joinParts(left, toOutcome(result));
  const output = Math.min(stdout.length + stderr.length + HEADINGS, Math.floor(maxCharacters / 2));
  const room = Math.max(0, maxCharacters - output - end.length);
  const main = Math.max(room - displayed.length, Math.floor(room / 2)) - 2; // and two newlines
  const shown =
    error === undefined
      ? showValue(value, result, { maxCharacters: main, isReadable })
      : showTraceback(error.traceback, main);
  return joinParts(cutMiddle(displayed, room - shown.length, SHOW_LESS), shown, end);
}

const HEADINGS = 20;
const SHOW_LESS = "display less at a time";
const CATCH = "catch the exception and print a part of it";
/** The worker cuts what is longer. */
const LONG_TRACEBACK = 59_000;

function showTraceback(traceback: string, maxCharacters: number): string {
  if (traceback.length <= maxCharacters && traceback.length <= LONG_TRACEBACK) return traceback;
  const ends = traceback.length > LONG_TRACEBACK ? toEnds(traceback) : wholeText(traceback);
  return cutEnds(ends, maxCharacters, () => CATCH);
}

function toFacts(
  execution: Execution,
  result: ExecutionResult,
  isCut: boolean,
  taskId: string | null,
): Record<string, unknown> {
  const facts: Record<string, unknown> = {
    status: result.status,
    session_id: result.sessionId,
    execution_id: result.executionId,
    exit_code: result.exitCode ?? null,
    duration_ms: Math.round(result.durationMs),
    ...toUsageFacts(result.usage),
    stdout_bytes: execution.output({ stream: "stdout", length: 0 }).totalBytes,
    stderr_bytes: execution.output({ stream: "stderr", length: 0 }).totalBytes,
    epoch: result.epoch,
    state: result.state,
    truncated: isCut,
    task_id: taskId,
  };
  if (result.reason !== undefined) facts["reason"] = result.reason;
  return facts;
}

function toStructured(result: ExecutionResult, values: ValueOptions): Record<string, unknown> {
  const { stdout, stderr, value, error } = result;
  const within = (text: string, hint = "see task_id"): string => cutMiddle(text, values.maxCharacters, hint);
  return {
    stdout: within(stdout),
    stderr: within(stderr),
    value: value?.["text/plain"] === undefined ? null : cutValue(value["text/plain"], result, values),
    error:
      error === undefined
        ? null
        : {
            name: error.name,
            value: within(error.value, CATCH),
            traceback: showTraceback(error.traceback, values.maxCharacters),
          },
  };
}

/** How it ended, in words, where the rest does not say it. */
function toOutcome(result: ExecutionResult): string {
  const { status, exitCode = 0, incomplete, reason, state, durationMs } = result;
  switch (status) {
    case "ok":
      return toNote(isSilent(result) ? "no output" : "", toTime(durationMs));
    case "error":
      return joinParts(incomplete === true ? INCOMPLETE : "", toNote(toTime(durationMs)));
    case "exit":
      return joinParts(toNote(`exit ${exitCode}`, toTime(durationMs)), AFTERWARDS[state]);
    case "interrupted":
      return joinParts(toInterruption(reason ?? "worker-lost", durationMs), AFTERWARDS[state] || KEPT);
  }
}

function isSilent({ stdout, stderr, value, displays }: ExecutionResult): boolean {
  return stdout === "" && stderr === "" && value === undefined && displays.length === 0;
}

const INCOMPLETE = "[The code ends in the middle of a statement. Nothing was run.]";
const KEPT = "[The session's variables are kept.]";

const AFTERWARDS: Readonly<Record<StateAfter, string>> = {
  kept: "",
  restored: "[The session's variables were restored from a checkpoint.]",
  lost: "[The session's variables were lost; the files in its working directory are still there.]",
};

function toInterruption(reason: InterruptReason, durationMs: number): string {
  const after = `after ${formatSeconds(durationMs)}`;
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
