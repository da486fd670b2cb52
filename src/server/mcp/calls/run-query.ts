// Starts recursive runs. A run that takes longer than the call waits continues as a task.

import type { Context } from "../../../rlm/context/context-items.ts";
import type { Run } from "../../../rlm/run.ts";
import type { RunRequest } from "../../../rlm/rlm.ts";
import type { RunTask } from "../../../tasks/run-task.ts";
import type { WorkFacts } from "../output-schema.ts";
import { DEFAULT_MAX_OUTPUT, type ToolResult } from "../render/result.ts";
import { renderRun } from "../render/run.ts";
import { renderRunning } from "../render/task.ts";
import { ArgumentsError } from "../tools/arguments-error.ts";
import { useSession, type ToolCall } from "../tools/tool-call.ts";
import { findText, type TextSource } from "./set-from.ts";
import { waitForEnd } from "./progress.ts";

export interface QueryRequest {
  readonly query: string;
  readonly context?: string | undefined;
  /** Instead of a context. As in `set_repl_context`. */
  readonly path?: string | undefined;
  readonly maxDepth?: number | undefined;
  readonly tokenBudget?: number | undefined;
}

export async function runQuery(call: ToolCall, request: QueryRequest): Promise<ToolResult<WorkFacts>> {
  const { rlm, runtime, timings } = call;
  if (rlm === undefined) throw new ArgumentsError("No model is configured for this server: nothing can be asked.");
  const run = await start(rlm, request, call);
  let task: RunTask | undefined;
  try {
    task = runtime.tasks.follow(run);
    const work = { ended: task.ended, waitMs: timings.pythonMs, lastLine: () => task?.lastLine() ?? "" };
    if (!(await waitForEnd(work, call))) return { ...renderRunning(runtime, task), task };
  } catch (error) {
    run.cancel();
    throw error;
  }
  return renderRun(task, DEFAULT_MAX_OUTPUT);
}

type ConfiguredRLM = NonNullable<ToolCall["rlm"]>;

/** The file stays open as long as the run or its recording reads it. */
async function start(rlm: ConfiguredRLM, request: QueryRequest, call: ToolCall): Promise<Run> {
  const { query, context: text, path } = request;
  const limits = toLimits(rlm, request);
  const source = path === undefined ? undefined : await findText(await useSession(call, undefined), path, call);
  const file = source !== undefined && "file" in source ? source.file : undefined;
  try {
    call.signal.throwIfAborted();
    const context = text === undefined ? toContext(source) : { text };
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

/** A model may lower the configured limits, and never raise them. */
function toLimits(
  { limits: allowed }: ConfiguredRLM,
  { maxDepth, tokenBudget }: QueryRequest,
): RunRequest["limits"] & object {
  return {
    ...(maxDepth !== undefined && { maxDepth: Math.min(maxDepth, allowed.maxDepth) }),
    ...(tokenBudget !== undefined && { tokens: Math.min(tokenBudget, allowed.tokens ?? Infinity) }),
  };
}
