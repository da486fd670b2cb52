// What a model is told of a task: that it goes on, how it ended, what it has printed.

import type { Runtime } from "../../../runtime.ts";
import type { ShellTask } from "../../../tasks/shell-task.ts";
import type { Task } from "../../../tasks/tasks.ts";
import type { TaskResult } from "../../../protocol/tasks.ts";
import { DEFAULT_MAX_OUTPUT, type Answer } from "./result.ts";
import { cutMiddle } from "./cut-ends.ts";
import { cutText, pageText } from "./cut-text.ts";
import { toExecutionAnswer } from "./execution.ts";
import { toRunAnswer, toRunOutcome } from "./run.ts";
import { showPrinted, taskSource } from "./output.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { formatSeconds } from "../../../util/text/format.ts";
import { joinParts, NO_OUTPUT, toNote, toStatusCall, toTime, toUsageFacts } from "./format.ts";

/** Room for what is said around the output of a task that goes on. */
const RUNNING_WORDS = 400;
const NEXT_WAIT_SECONDS = 30;

/** The call gives it up for now; the same process goes on. */
export function toRunningAnswer(runtime: Runtime, task: Task, maxOutput = DEFAULT_MAX_OUTPUT): Answer {
  const source = taskSource(task);
  const maxCharacters = Math.max(200, maxOutput - RUNNING_WORDS);
  const readOn = (offset: number): string => toStatusCall(task.id, { offset });
  const { text: output } = cutText(source, { maxCharacters, readOn });
  const text = joinParts(
    toState(runtime, task),
    output === "" ? "No output yet." : `Output so far:\n${output}`,
    toNext(task, source.totalBytes),
  );
  return { text, facts: toTaskFacts(task), structured: () => ({ stdout: output, stderr: "" }) };
}

function toState(runtime: Runtime, task: Task): string {
  const { id, durationMs, status, sessionId } = task.info();
  if (task.kind === "execution" && task.execution.startedAt === undefined)
    return `Waiting for its turn in session '${sessionId}'${toBehind(runtime, task)}: task ${id}.`;
  const doing = task.kind === "run" && task.lastLine() !== "" ? ` Now: ${task.lastLine()}.` : "";
  return `${status === "paused" ? "Paused" : "Still running"}: task ${id} (${formatSeconds(durationMs)} so far).${doing}`;
}

/** What runs in its session, where that is a task: whoever does not want to wait can end it. */
function toBehind(runtime: Runtime, { sessionId }: Task): string {
  const runs = (task: Task): boolean =>
    task.kind === "execution" && task.sessionId === sessionId && !task.isOver && task.execution.startedAt !== undefined;
  const first = runtime.tasks.list().find(runs);
  return first === undefined ? "" : ` behind task ${first.id}`;
}

/** How it ended, with what it printed. Waits for an end that is not there yet. */
export async function toEndedAnswer(
  { runtime, images }: Pick<ToolCall, "runtime" | "images">,
  task: Task,
  maxOutput = DEFAULT_MAX_OUTPUT,
): Promise<Answer> {
  if (task.kind === "shell") return toShellAnswer(task, await task.result, maxOutput);
  if (task.kind === "run") return toRunAnswer(task, maxOutput);
  const { execution } = task;
  const answer = await toExecutionAnswer({ runtime, images, execution, result: await execution.result, maxOutput });
  return { ...answer, facts: { ...answer.facts, task_id: task.id } };
}

/** A part of what it printed; at the end of that also how it ended. */
export async function toPageAnswer(runtime: Runtime, task: Task, offset: number): Promise<Answer> {
  const source = taskSource(task);
  const maxCharacters = DEFAULT_MAX_OUTPUT - RUNNING_WORDS;
  const { text: page, nextOffset } = pageText(source, { offset, maxCharacters });
  const facts = { ...toTaskFacts(task), offset, next_offset: nextOffset, total_bytes: source.totalBytes };
  if (nextOffset !== null) {
    const left = (source.totalBytes - nextOffset).toLocaleString("en-US");
    const more = `[${left} bytes more: ${toStatusCall(task.id, { offset: nextOffset })}]`;
    return { text: joinParts(page, more), facts };
  }
  if (!task.isOver) return { text: joinParts(page, toState(runtime, task), toNext(task, source.totalBytes)), facts };
  const end = await toEnd(task);
  return { text: joinParts(page, end) || "[no more output]", facts };
}

export function toShellAnswer(task: ShellTask, result: TaskResult, maxOutput: number): Answer {
  const { stdout, stderr, status, truncated } = result;
  const printed = {
    stdout,
    stderr,
    isWhole: truncated?.stdout === undefined && truncated?.stderr === undefined,
    toTask: () => task,
  };
  const within = (streamed: string): string => cutMiddle(streamed, maxOutput, "see task_id");
  const { text, cutFrom } = showPrinted(printed, toShellOutcome(task, result), maxOutput);
  return {
    text: text || NO_OUTPUT,
    isError: status === "failed" || status === "timed-out",
    facts: { ...toTaskFacts(task), truncated: cutFrom !== undefined },
    structured: () => ({ stdout: within(stdout), stderr: within(stderr) }),
    ...(cutFrom !== undefined && { linkTo: cutFrom }),
  };
}

/** The reason that says no more than the status does. */
const CANCELLED = "it was cancelled";

function toShellOutcome(task: Task, result: TaskResult): string {
  const { status, exitCode, why, durationMs, stdout, stderr } = result;
  const hasWorked = exitCode === 0 && status === "completed";
  const silence = hasWorked && stdout === "" && stderr === "" ? "no output" : "";
  const exit = exitCode === null || hasWorked ? silence : `exit ${exitCode}`;
  const how = status === "completed" ? "" : `${status}${why === null || why === CANCELLED ? "" : `: ${why}`}`;
  const alive = `[What it started in the background goes on; ${toStatusCall(task.id, { kill: true })} ends it.]`;
  return joinParts(toNote(how, exit, toTime(durationMs)), task.info().background ? alive : ""); // as it is now
}

async function toEnd(task: Task): Promise<string> {
  if (task.kind === "shell") return toShellOutcome(task, await task.result) || "[completed]";
  if (task.kind === "run") return toRunOutcome(task);
  const { status, durationMs } = task.info();
  return joinParts(toNote(status, toTime(durationMs)), `[Its result: ${toStatusCall(task.id)}]`);
}

function toNext(task: Task, offset: number): string {
  const next = toStatusCall(task.id, { wait: NEXT_WAIT_SECONDS, offset });
  return `Wait for more with ${next}; end it with ${toStatusCall(task.id, { kill: true })}.`;
}

function toTaskFacts(task: Task): Record<string, unknown> {
  const { id, kind, sessionId, status, exitCode, durationMs, outputBytes, usage } = task.info();
  return {
    status,
    session_id: sessionId,
    task_id: id,
    kind,
    exit_code: exitCode,
    duration_ms: Math.round(durationMs),
    output_bytes: outputBytes,
    ...(task.kind === "shell" && task.isOver && toUsageFacts(usage)),
  };
}
