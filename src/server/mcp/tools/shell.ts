// Shell commands, and the tasks that long commands and Python become.

import { z } from "zod";
import type { Task } from "../../../tasks/tasks.ts";
import { runShell } from "../calls/run-code.ts";
import { renderEnded, renderPage, renderRunning } from "../render/task.ts";
import { workFacts } from "../output-schema.ts";
import { CLEARS, toolsIn, RUNS, type MCPTool } from "./tool.ts";
import { useSession } from "./tool-call.ts";
import { waitForEnd } from "../calls/progress.ts";
import { maxOutput, optionalSessionId, shellTimeout } from "./parameters.ts";

const defineTool = toolsIn("shell");
const MAX_WAIT_SECONDS = 50;

export const SHELL_TOOLS: readonly MCPTool[] = [
  defineTool("shell", {
    title: "Run a command",
    description:
      "Run a bash command in the sandbox, in the session's working directory. After 5 s it goes on as a task: read it with shell_status.",
    input: {
      command: z.string(),
      session_id: optionalSessionId,
      cwd: z.string().optional().describe("default: the working directory"),
      timeout: shellTimeout,
      max_output: maxOutput,
    },
    annotations: RUNS,
    isCore: true,
    output: workFacts,
    aliases: { working_dir: "cwd" },
    call: async (args, call) => {
      const { cwd, timeout, max_output: shown } = args;
      return runShell(call, await useSession(call, args.session_id), args.command, { cwd, timeout, maxOutput: shown });
    },
  }),
  defineTool("shell_status", {
    title: "Read a task",
    description:
      "Output and state of a task, be it a command or Python that took long, and the rest of output that was cut.",
    input: {
      task_id: z.string(),
      wait: z.int().min(0).max(MAX_WAIT_SECONDS).optional().describe("seconds to wait for its end"),
      offset: z.int().min(0).optional().describe("first byte of output to show"),
      kill: z.boolean().optional().describe("end it"),
    },
    annotations: CLEARS,
    isCore: true,
    output: workFacts,
    call: async ({ task_id: id, wait = 0, offset, kill = false }, call) => {
      const task = call.runtime.tasks.get(id);
      if (kill) {
        const note = task.isOver ? toLateNote(task) : undefined;
        await task.cancel();
        if (note !== undefined) call.notes.push(note);
        return { ...(await renderEnded(call, task)), isError: false }; // it was requested
      }
      if (wait > 0 && !task.isOver)
        await waitForEnd({ ended: task.result, waitMs: wait * 1000, lastLine: () => task.lastLine() }, call);
      if (offset !== undefined) return renderPage(call.runtime, task, offset);
      return task.isOver ? renderEnded(call, task) : renderRunning(call.runtime, task);
    },
  }),
];

/** When killing a task has no visible effect. */
function toLateNote(task: Task): string {
  return task.info().background ? "[What it had left running was ended.]" : "[It had ended already.]";
}
