// Renders the result of an execution: output, value or traceback, and how it ended.

import type { Runtime } from "../../../runtime.ts";
import type { ExecutionTask } from "../../../tasks/execution-task.ts";
import type { ExecutionResult, InterruptReason, StateAfter } from "../../../protocol/execution.ts";
import type { TaskId } from "../../../protocol/ids.ts";
import type { WorkFacts } from "../output-schema.ts";
import type { ToolResult } from "./result.ts";
import { truncateText } from "../../../util/text/truncate-text.ts";
import type { Images } from "./images.ts";
import { showPrinted } from "./output.ts";
import { showRich, type RichResult } from "./rich.ts";
import { joinParts, NO_OUTPUT, toNote, toReprCall, toTime, toUsageFacts } from "./format.ts";
import { formatSeconds } from "../../../util/text/format.ts";

type Execution = ExecutionTask["execution"];

interface Ended {
  readonly runtime: Runtime;
  readonly images: Images;
  readonly execution: Execution;
  readonly result: ExecutionResult;
  readonly maxOutput: number;
  /** Absent: it is no task. */
  readonly taskId?: TaskId;
  /** Its session ends with it. */
  readonly isOnce?: boolean;
}

export async function renderExecution(ended: Ended): Promise<ToolResult<WorkFacts>> {
  const { runtime, images, execution, result, maxOutput, taskId, isOnce = false } = ended;
  const rich = await showRich(result, images);
  const printed = {
    stdout: result.stdout,
    stderr: result.stderr,
    isWhole: result.truncated?.stdout === undefined && result.truncated?.stderr === undefined,
    inOrder: () => execution.output({ length: Infinity }).bytes,
    toTask: () => runtime.tasks.adopt(execution),
  };
  const values = {
    maxCharacters: maxOutput,
    isReadable: () => rich.isRepr && !isOnce && isLastValue(runtime, result),
  };
  const { text, cutFrom } = showPrinted(printed, toRest(result, rich, values), maxOutput);
  const isValueCut = result.truncated?.value !== undefined || rich.value.length > maxOutput;
  const rendered = {
    text: text === "" && rich.images.length === 0 ? NO_OUTPUT : text,
    images: rich.images,
    isError: result.status === "error" || result.status === "interrupted",
    facts: toFacts(execution, result, cutFrom !== undefined || isValueCut, taskId ?? cutFrom?.id ?? null),
    structured: () => toStructured(result, values),
  };
  return cutFrom === undefined ? rendered : { ...rendered, linkTo: cutFrom };
}

/** What comes after the output. It gets half of the characters if the output is long, else all that are left. */
function toRest(result: ExecutionResult, { displayed, value, omitted }: RichResult, values: ValueOptions): string {
  const { stdout, stderr, error } = result;
  const { maxCharacters, isReadable } = values;
  const end = joinParts(omitted, toOutcome(result));
  const output = Math.min(stdout.length + stderr.length + HEADINGS, Math.floor(maxCharacters / 2));
  const left = Math.max(0, maxCharacters - output - end.length);
  const main = Math.max(left - displayed.length, Math.floor(left / 2)) - 2; // and two newlines
  const shown =
    error === undefined
      ? showValue(value, result, { maxCharacters: main, isReadable })
      : showTraceback(error.traceback, main);
  return joinParts(truncateText(displayed, { maxCharacters: left - shown.length, hint: () => SHOW_LESS }), shown, end);
}

const HEADINGS = 20;
const SHOW_LESS = "display less at a time";
const CATCH = "catch the exception and print a part of it";
/** The worker truncates longer ones. */
const LONG_TRACEBACK = 59_000;

function showTraceback(traceback: string, maxCharacters: number): string {
  const isTruncated = traceback.length > LONG_TRACEBACK;
  return truncateText(traceback, { maxCharacters, hint: () => CATCH, isTruncated });
}

function toFacts(execution: Execution, result: ExecutionResult, isCut: boolean, taskId: TaskId | null): WorkFacts {
  return {
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
    ...(result.reason !== undefined && { reason: result.reason }),
  };
}

function toStructured(result: ExecutionResult, values: ValueOptions): Partial<WorkFacts> {
  const { stdout, stderr, value, error } = result;
  const within = (text: string, hint = "see task_id"): string =>
    truncateText(text, { maxCharacters: values.maxCharacters, hint: () => hint });
  return {
    stdout: within(stdout),
    stderr: within(stderr),
    value: value?.["text/plain"] === undefined ? undefined : truncateValue(value["text/plain"], result, values),
    error: error && {
      name: error.name,
      value: within(error.value, CATCH),
      traceback: showTraceback(error.traceback, values.maxCharacters),
    },
  };
}

/** How it ended, if the rest does not show it. */
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

/** Through `builtins`, because the code may define a variable `_`. */
const LAST_VALUE = "__import__('builtins')._";
const ASSIGN = "assign it to a variable and print a part";

interface ValueOptions {
  readonly maxCharacters: number;
  /** The text is a `repr()`, and the session can compute it again. Called only when something is omitted. */
  readonly isReadable: () => boolean;
}

/** On lines of its own if it has several. */
function showValue(text: string, result: ExecutionResult, options: ValueOptions): string {
  if (text === "") return "";
  const shown = truncateValue(text, result, { ...options, maxCharacters: options.maxCharacters - 2 });
  return shown.includes("\n") ? `→\n${shown}` : `→ ${shown}`;
}

function truncateValue(
  text: string,
  { truncated, sessionId }: ExecutionResult,
  { maxCharacters, isReadable }: ValueOptions,
): string {
  const isTruncated = truncated?.value !== undefined;
  if (!isTruncated && text.length <= maxCharacters) return text;
  const readOn = (from: number, to: number): string => `read on with ${toReprCall(LAST_VALUE, [from, to], sessionId)}`;
  return truncateText(text, { maxCharacters, hint: isReadable() ? readOn : () => ASSIGN, isTruncated });
}

/** Whether nothing has been run in the session since. */
function isLastValue(runtime: Runtime, { sessionId, executionId }: ExecutionResult): boolean {
  return runtime.sessions.find(sessionId)?.history().at(-1)?.executionId === executionId;
}
