// Calls that run Python or a command. Work that takes longer than the call waits continues as a task.
//
// Cancelling the request ends the work until it has become a task; from then on only a kill does.

import { formatCount } from "../../../util/text/format.ts";
import type { Session } from "../../../session/session.ts";
import type { Task } from "../../../tasks/tasks.ts";
import type { WorkFacts } from "../output-schema.ts";
import { DEFAULT_MAX_OUTPUT, type ToolResult } from "../render/result.ts";
import { renderExecution } from "../render/execution.ts";
import { renderRunning, renderShell } from "../render/task.ts";
import { ArgumentsError } from "../tools/arguments-error.ts";
import { DEFAULT_TIMEOUT_SECONDS, toSessionOptions, type ToolCall } from "../tools/tool-call.ts";
import { waitForEnd } from "./progress.ts";

export interface RunOptions {
  /** Seconds. */
  readonly timeout?: number | undefined;
  readonly maxOutput?: number | undefined;
  /** The session ends with the code. Default: false. */
  readonly isOnce?: boolean;
}

/** More is data rather than code, and should be loaded from a file. */
const MAX_CODE_CHARACTERS = 4_000_000;

export async function runPython(
  call: ToolCall,
  session: Session,
  code: string,
  { timeout = DEFAULT_TIMEOUT_SECONDS, maxOutput = DEFAULT_MAX_OUTPUT, isOnce = false }: RunOptions,
): Promise<ToolResult<WorkFacts>> {
  checkLength("code", code, call);
  const { runtime, images } = call;
  const execution = session.execute(code, { timeoutMs: timeout * 1000 });
  call.onActivity({ execution });
  const lastLine = (): string => execution.lastLine();
  try {
    if (!(await waitForEnd({ ended: execution.result, waitMs: call.timings.pythonMs, lastLine }, call)))
      return toDetached(call, runtime.tasks.adopt(execution), maxOutput);
  } catch (error) {
    execution.cancel();
    throw error;
  }
  return renderExecution({ runtime, images, execution, result: await execution.result, maxOutput, isOnce });
}

/** In a session that ends with the code. */
export async function runOnce(call: ToolCall, code: string, options: RunOptions): Promise<ToolResult<WorkFacts>> {
  checkLength("code", code, call);
  const session = await call.runtime.openSession(toSessionOptions(call));
  let result: ToolResult<WorkFacts>;
  try {
    result = await runPython(call, session, code, { ...options, isOnce: true });
  } catch (error) {
    void session.discard();
    throw error;
  }
  const { task } = result;
  if (task === undefined) void session.discard();
  else void task.ended.then(() => session.discard());
  return result;
}

export interface ShellOptions extends RunOptions {
  readonly cwd?: string | undefined;
}

export async function runShell(
  call: ToolCall,
  session: Session,
  command: string,
  { timeout, cwd, maxOutput = DEFAULT_MAX_OUTPUT }: ShellOptions,
): Promise<ToolResult<WorkFacts>> {
  checkLength("command", command, call);
  const task = call.runtime.shell(command, {
    session,
    ...(cwd !== undefined && { cwd }),
    ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
  });
  call.onActivity({ task });
  const work = { ended: task.result, waitMs: call.timings.shellMs, lastLine: () => task.lastLine() };
  try {
    if (!(await waitForEnd(work, call))) return toDetached(call, task, maxOutput);
  } catch (error) {
    void task.cancel().catch(() => {});
    throw error;
  }
  return renderShell(task, await task.result, maxOutput);
}

function toDetached({ runtime }: ToolCall, task: Task, maxOutput: number): ToolResult<WorkFacts> {
  return { ...renderRunning(runtime, task, maxOutput), task };
}

function checkLength(what: string, text: string, { offers }: ToolCall): void {
  if (text.length <= MAX_CODE_CHARACTERS) return;
  throw new ArgumentsError(
    `The ${what} has ${formatCount(text.length)} characters, and ${formatCount(MAX_CODE_CHARACTERS)} ` +
      `is the most. Put data into a file and ${offers("set_repl_context") ? "load it with set_repl_context(key, path)" : "read that"}.`,
  );
}
