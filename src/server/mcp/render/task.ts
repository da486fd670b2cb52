// Renders tasks: running, ended, and pages of their output.

import type { Runtime } from "../../../runtime.ts";
import type { ShellTask } from "../../../tasks/shell-task.ts";
import type { Task } from "../../../tasks/tasks.ts";
import type { TaskResult } from "../../../protocol/tasks.ts";
import type { WorkFacts } from "../output-schema.ts";
import { DEFAULT_MAX_OUTPUT, type ToolResult } from "./result.ts";
import { pageOutput, truncateOutput } from "../../../util/text/truncate.ts";
import { truncateText } from "../../../util/text/truncate-text.ts";
import { renderExecution } from "./execution.ts";
import { renderRun, toRunOutcome } from "./run.ts";
import { showPrinted, taskSource, toReadOn } from "./output.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { formatCount, formatSeconds } from "../../../util/text/format.ts";
import { joinParts, NO_OUTPUT, toNote, toStatusCall, toTime, toUsageFacts } from "./format.ts";

/** Reserved for the text around the output. */
const RESERVED_CHARACTERS = 400;
const NEXT_WAIT_SECONDS = 30;

/** For a call that returns while the task keeps running. */
export function renderRunning(runtime: Runtime, task: Task, maxOutput = DEFAULT_MAX_OUTPUT): ToolResult<WorkFacts> {
  const source = taskSource(task);
  const maxCharacters = Math.max(200, maxOutput - RESERVED_CHARACTERS);
  const { text: output } = truncateOutput(source, { maxCharacters, hint: (offset) => toReadOn(task, offset) });
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

/** Names the task that runs in the session now, which could be killed. */
function toBehind(runtime: Runtime, { sessionId }: Task): string {
  const runs = (task: Task): boolean =>
    task.kind === "execution" && task.sessionId === sessionId && !task.isOver && task.execution.startedAt !== undefined;
  const first = runtime.tasks.list().find(runs);
  return first === undefined ? "" : ` behind task ${first.id}`;
}

/** Waits for the end of the task. */
export async function renderEnded(
  { runtime, images }: Pick<ToolCall, "runtime" | "images">,
  task: Task,
  maxOutput = DEFAULT_MAX_OUTPUT,
): Promise<ToolResult<WorkFacts>> {
  if (task.kind === "shell") return renderShell(task, await task.result, maxOutput);
  if (task.kind === "run") return renderRun(task, maxOutput);
  const { id: taskId, execution } = task;
  return renderExecution({ runtime, images, execution, result: await execution.result, maxOutput, taskId });
}

/** A page of output; the last page also says how the task ended. */
export async function renderPage(runtime: Runtime, task: Task, offset: number): Promise<ToolResult<WorkFacts>> {
  const source = taskSource(task);
  const maxCharacters = DEFAULT_MAX_OUTPUT - RESERVED_CHARACTERS;
  const { text: page, nextOffset } = pageOutput(source, { offset, maxCharacters });
  const facts = { ...toTaskFacts(task), offset, next_offset: nextOffset, total_bytes: source.totalBytes };
  if (nextOffset !== null) {
    const left = formatCount(source.totalBytes - nextOffset);
    const more = `[${left} bytes more: ${toStatusCall(task.id, { offset: nextOffset })}]`;
    return { text: joinParts(page, more), facts };
  }
  if (!task.isOver) return { text: joinParts(page, toState(runtime, task), toNext(task, source.totalBytes)), facts };
  const end = await toEnd(task);
  return { text: joinParts(page, end) || "[no more output]", facts };
}

export function renderShell(task: ShellTask, result: TaskResult, maxOutput: number): ToolResult<WorkFacts> {
  const { stdout, stderr, status, truncated } = result;
  const printed = {
    stdout,
    stderr,
    isWhole: truncated?.stdout === undefined && truncated?.stderr === undefined,
    inOrder: () => task.output({ length: Infinity }).bytes,
    toTask: () => task,
  };
  const within = (streamed: string): string =>
    truncateText(streamed, { maxCharacters: maxOutput, hint: () => "see task_id" });
  const { text, cutFrom } = showPrinted(printed, toShellOutcome(task, result), maxOutput);
  return {
    text: text || NO_OUTPUT,
    isError: status === "failed" || status === "timed-out",
    facts: { ...toTaskFacts(task), truncated: cutFrom !== undefined },
    structured: () => ({ stdout: within(stdout), stderr: within(stderr) }),
    ...(cutFrom !== undefined && { linkTo: cutFrom }),
  };
}

/** Says no more than the status. */
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

function toTaskFacts(task: Task): WorkFacts {
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
