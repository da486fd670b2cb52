// Questions to the orchestrator. A run is started once; one that takes longer than the call waits goes on as a task.

import type { Context } from "../../../rlm/context/context-items.ts";
import type { Run } from "../../../rlm/run.ts";
import type { RunRequest } from "../../../rlm/rlm.ts";
import type { RunTask } from "../../../tasks/run-task.ts";
import { DEFAULT_MAX_OUTPUT, type ToolResult } from "../render/result.ts";
import { renderRun } from "../render/run.ts";
import { renderRunning } from "../render/task.ts";
import { ArgumentsError } from "../tools/tool.ts";
import { useSession, type ToolCall } from "../tools/tool-call.ts";
import { findText, type TextSource } from "./set-from.ts";
import { watch } from "./progress.ts";

export interface Question {
  readonly query: string;
  readonly context?: string | undefined;
  /** In file of a context: as `set_repl_context` takes it. */
  readonly path?: string | undefined;
  readonly maxDepth?: number | undefined;
  readonly tokenBudget?: number | undefined;
}

export async function ask(call: ToolCall, question: Question): Promise<ToolResult> {
  const { rlm, runtime, waits } = call;
  if (rlm === undefined) throw new ArgumentsError("No model is configured for this server: nothing can be asked.");
  const run = await start(rlm, question, call);
  let task: RunTask | undefined;
  try {
    task = runtime.tasks.follow(run);
    const watched = { ended: task.ended, waitMs: waits.pythonMs, lastLine: () => task?.lastLine() ?? "" };
    if (!(await watch(watched, call))) return { ...renderRunning(runtime, task), task };
  } catch (error) {
    run.cancel();
    throw error;
  }
  return renderRun(task, DEFAULT_MAX_OUTPUT);
}

type Asked = NonNullable<ToolCall["rlm"]>;

/** The file stays open as long as anybody reads it: the run, and what records it. */
async function start(rlm: Asked, question: Question, call: ToolCall): Promise<Run> {
  const { query, context: given, path } = question;
  const limits = toLimits(rlm, question);
  const source = path === undefined ? undefined : await findText(await useSession(call, undefined), path, call);
  const file = source !== undefined && "file" in source ? source.file : undefined;
  try {
    call.signal.throwIfAborted();
    const context = given === undefined ? toContext(source) : { text: given };
    const run = rlm.run({ query, limits, ...(context !== undefined && { context }) });
    call.onActivity({ run });
    void call.runtime.runs.settled(run.id).then(() => file?.[Symbol.dispose]());
    return run;
  } catch (error) {
    file?.[Symbol.dispose]();
    throw error;
  }
}

function toContext(source: TextSource | undefined): Context | undefined {
  return source !== undefined && "file" in source ? { file: source.file.path } : source;
}

/** What whoever configured the server allows is not raised by what a model asks for. */
function toLimits({ limits: allowed }: Asked, { maxDepth, tokenBudget }: Question): RunRequest["limits"] & object {
  return {
    ...(maxDepth !== undefined && { maxDepth: Math.min(maxDepth, allowed.maxDepth) }),
    ...(tokenBudget !== undefined && { tokens: Math.min(tokenBudget, allowed.tokens ?? Infinity) }),
  };
}
