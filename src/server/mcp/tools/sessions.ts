// Sessions: creating, using, inspecting, saving and ending them.

import { z } from "zod";
import { sessionFacts, sessionFileFacts, sessionListFacts, variableFacts, workFacts } from "../output-schema.ts";
import { waitUntilIdle } from "../calls/when-idle.ts";
import { runPython } from "../calls/run-code.ts";
import { describeCreated, describeDestroyed, describeLoaded, describeSaved, listSessions } from "../render/sessions.ts";
import { ADDS, CLEARS, toolsIn, READS, RUNS, type MCPTool } from "./tool.ts";
import { toSessionOptions } from "./tool-call.ts";
import { describeNamespace } from "../render/namespace.ts";
import { code, sessionId, timeout } from "./parameters.ts";
import { clearSession } from "./sandbox.ts";

const defineTool = toolsIn("sessions");
const filepath = z.string();

export const SESSION_TOOLS: readonly MCPTool[] = [
  defineTool("create_repl_session", {
    title: "Create a session",
    description: "Make another Python session, apart from 'default'. It ends after 30 minutes without use.",
    input: {
      session_id: z.string().optional().describe("default: made up"),
      include_stdlib: z.boolean().optional().describe("with functions of add_to_stdlib, default true"),
    },
    annotations: ADDS,
    output: sessionFacts,
    call: async ({ session_id: id, include_stdlib: includeStdlib = true }, call) => {
      const options = { ...toSessionOptions(call), includeStdlib, ...(id !== undefined && { id }) };
      return describeCreated(await call.runtime.openSession(options), includeStdlib, call.hostPaths);
    },
  }),
  defineTool("execute_repl", {
    title: "Run Python in a session",
    description: "Like execute_python, but the session must exist.",
    input: { session_id: sessionId, code, timeout },
    annotations: RUNS,
    output: workFacts,
    call: async (args, call) =>
      runPython(call, call.runtime.sessions.get(args.session_id), args.code, { timeout: args.timeout }),
  }),
  defineTool("list_repl_sessions", {
    title: "List sessions",
    description: "All sessions with their state, memory and variables.",
    input: {},
    annotations: READS,
    output: sessionListFacts,
    call: async (_, { runtime }) => listSessions(runtime),
  }),
  defineTool("get_session_namespace", {
    title: "Look into a session",
    description: "Like get_repl_context, but the session must exist.",
    input: { session_id: sessionId, variable_name: z.string().optional() },
    annotations: READS,
    output: variableFacts,
    call: async ({ session_id: id, variable_name: name }, { runtime }) =>
      describeNamespace(runtime.sessions.get(id), name),
  }),
  defineTool("destroy_repl_session", {
    title: "End a session",
    description: "End a session with its variables, files and processes.",
    input: { session_id: sessionId },
    annotations: CLEARS,
    output: sessionFacts,
    call: async ({ session_id: id }, { runtime }) => describeDestroyed(await runtime.sessions.get(id).close()),
  }),
  defineTool("clear_repl_session", {
    title: "Clear a session",
    description: "Like clear_repl_context, but the session must exist.",
    input: { session_id: sessionId },
    annotations: CLEARS,
    call: async ({ session_id: id }, call) => clearSession(call, call.runtime.sessions.get(id)),
  }),
  defineTool("save_repl_session", {
    title: "Save a session",
    description: "Save a session's variables, functions and imports to a file that load_repl_session reads.",
    input: { session_id: sessionId, filepath: filepath.describe("a name, or a path in a writable folder") },
    annotations: ADDS,
    output: sessionFileFacts,
    call: async ({ session_id: id, filepath: path }, call) => {
      const session = call.runtime.sessions.get(id);
      await waitUntilIdle(call, session);
      using file = call.hostPaths.openForSaving(path);
      return describeSaved(await session.save(file.path, { signal: call.signal }).catch(file.fail), file);
    },
  }),
  defineTool("load_repl_session", {
    title: "Load a session",
    description: "Make a session from a saved file.",
    input: { session_id: sessionId.describe("of the new session"), filepath },
    annotations: RUNS,
    output: sessionFileFacts,
    call: async ({ session_id: id, filepath: path }, call) => {
      using file = await call.hostPaths.openForLoading(path);
      const options = { ...toSessionOptions(call), id, signal: call.signal };
      const loading = call.runtime.loadSession(file.path, options);
      return describeLoaded(await loading.catch(file.fail), file);
    },
  }),
  defineTool("fork_repl_session", {
    title: "Copy a session",
    description: "Copy a live session with all its variables and files, in milliseconds, to try something.",
    input: { session_id: sessionId, new_session_id: z.string().optional() },
    annotations: ADDS,
    output: sessionFacts,
    call: async ({ session_id: id, new_session_id: newId }, { runtime }) => {
      const copy = await runtime.sessions.get(id).fork(newId === undefined ? {} : { id: newId });
      return { text: `Session '${copy.id}' is a copy of '${id}'.`, facts: { session_id: copy.id } };
    },
  }),
];
