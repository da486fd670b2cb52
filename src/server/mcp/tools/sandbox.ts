// Python in the default session, and its variables.

import { z } from "zod";
import type { Session } from "../../../session/session.ts";
import { limitLength, type ToolResult } from "../render/result.ts";
import { variableFacts, workFacts } from "../output-schema.ts";
import { waitUntilIdle } from "../calls/when-idle.ts";
import { runPython } from "../calls/run-code.ts";
import { ArgumentsError } from "./arguments-error.ts";
import { ADDS, CLEARS, toolsIn, READS, RUNS, type MCPTool } from "./tool.ts";
import { useSession, type ToolCall } from "./tool-call.ts";
import { describeNamespace } from "../render/namespace.ts";
import { setFromPath, setFromValue } from "../calls/set-from.ts";
import { code, maxOutput, optionalSessionId, timeout } from "./parameters.ts";

const defineTool = toolsIn("sandbox");

export const SANDBOX_TOOLS: readonly MCPTool[] = [
  defineTool("execute_python", {
    title: "Run Python",
    description:
      "Run Python in a persistent sandboxed session; variables, imports and files stay. Shows what is printed, the value of the last expression, and figures. Needs no set-up. After 30 s it goes on as a task: read it with shell_status.",
    input: { code, session_id: optionalSessionId, timeout, max_output: maxOutput },
    annotations: RUNS,
    isCore: true,
    output: workFacts,
    call: async (args, call) => {
      const session = await useSession(call, args.session_id);
      return runPython(call, session, args.code, { timeout: args.timeout, maxOutput: args.max_output });
    },
  }),
  defineTool("get_repl_context", {
    title: "Look at variables",
    description: "List the variables of a session, or describe one: type, size, shape, preview. Never whole values.",
    input: { key: z.string().optional(), session_id: optionalSessionId },
    annotations: READS,
    output: variableFacts,
    call: async ({ key, session_id: id }, call) => describeNamespace(await useSession(call, id), key),
  }),
  defineTool("set_repl_context", {
    title: "Set a variable",
    description:
      "Set a variable from value, or from the text of a file (path), which then need not pass through the conversation.",
    input: {
      key: z.string(),
      value: z.string().optional().describe("JSON, else text"),
      path: z.string().optional().describe("a visible file, or one of the session"),
      session_id: optionalSessionId,
    },
    annotations: ADDS,
    call: async ({ key, value, path, session_id: id }, call) => {
      if ((value === undefined) === (path === undefined))
        throw new ArgumentsError("set_repl_context takes exactly one of value and path.");
      const session = await useSession(call, id);
      await waitUntilIdle(call, session);
      const text =
        path === undefined
          ? await setFromValue(session, key, value ?? "", call)
          : await setFromPath(session, key, path, call);
      return { text: limitLength(text) };
    },
  }),
  defineTool("clear_repl_context", {
    title: "Clear variables",
    description: "Remove all variables of a session; its files stay.",
    input: { session_id: optionalSessionId },
    annotations: CLEARS,
    call: async ({ session_id: id }, call) => clearSession(call, await useSession(call, id)),
  }),
];

export async function clearSession(call: ToolCall, session: Session): Promise<ToolResult<never>> {
  await waitUntilIdle(call, session);
  await session.reset();
  return { text: `Session '${session.id}' is empty; its files are still there.` };
}
