// Python tools under the names that other servers use.

import { runOnce, runPython } from "../calls/run-code.ts";
import { workFacts } from "../output-schema.ts";
import { toolsIn, RUNS, type MCPTool } from "./tool.ts";
import { useSession } from "./tool-call.ts";
import { code, optionalSessionId, timeout } from "./parameters.ts";

const defineTool = toolsIn("repl");

export const REPL_TOOLS: readonly MCPTool[] = [
  defineTool("python", {
    title: "Run Python once",
    description: "Run Python in a fresh sandbox that is gone afterwards: nothing is kept.",
    input: { code, timeout },
    annotations: RUNS,
    output: workFacts,
    call: async (args, call) => runOnce(call, args.code, { timeout: args.timeout }),
  }),
  defineTool("python_session", {
    title: "Run Python with state",
    description: "The same as execute_python.",
    input: { code, session_id: optionalSessionId },
    annotations: RUNS,
    output: workFacts,
    call: async (args, call) => runPython(call, await useSession(call, args.session_id), args.code, {}),
  }),
];
