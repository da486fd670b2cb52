// Structured results and the schemas that clients are given for them.

import { rmSync } from "node:fs";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { afterAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { ScriptedBackend, type Runtime } from "../../internals.ts";
import { ALL_TOOLS } from "../../../src/server/mcp/tools/select-tools.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { connect, factsOf } from "./connect.ts";

/** Its own, because what it adds to the standard library is in every session with the same folder. */
const data = makeDataFolder();
vi.stubEnv("RLM_DATA", data);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

type Calls = readonly (readonly [tool: string, args: Record<string, unknown>, expected: Record<string, unknown>])[];

const session = { session_id: "s" };
const LONG = "sleep 1000";
const python = { status: "ok", state: "kept", epoch: 1, truncated: false, session_id: "s" };

/** In this order. Every tool, and every way in which work ends. */
const CALLS: Calls = [
  ["list_repl_sessions", {}, {}],
  ["create_repl_session", session, { ...session, stdlib_loaded: false }],
  ["execute_repl", { ...session, code: "x = 1\nx" }, { ...python, value: "1", stdout: "", stdout_bytes: 0 }],
  ["execute_python", { ...session, code: "print('a' * 900)", max_output: 300 }, { truncated: true, task_id: "t1" }],
  ["execute_python", { ...session, code: "1 / 0" }, { status: "error", error: { name: "ZeroDivisionError" } }],
  ["python_session", { ...session, code: "exit(3)" }, { status: "exit", exit_code: 3 }],
  ["python", { code: "while True: pass", timeout: 1 }, { status: "interrupted", reason: "timeout" }],
  ["set_repl_context", { ...session, key: "y", value: "2" }, {}],
  ["get_repl_context", session, { ...session, variable_count: 2 }],
  ["get_session_namespace", { ...session, variable_name: "y" }, { ...session, name: "y", type: "int" }],
  ["shell", { ...session, command: "echo b; exit 2" }, { status: "completed", exit_code: 2, kind: "shell" }],
  ["shell", { ...session, command: LONG }, { status: "running", task_id: "t3", stdout: "" }],
  ["shell_status", { task_id: "t3", offset: 0 }, { status: "running", offset: 0, total_bytes: 0 }],
  ["shell_status", { task_id: "t3", kill: true }, { status: "cancelled", task_id: "t3" }],
  ["shell_status", { task_id: "t1", offset: 0 }, { status: "completed", kind: "execution", total_bytes: 901 }],
  ["shell_status", { task_id: "t1" }, { status: "ok", task_id: "t1", execution_id: expect.any(String) }],
  ["rlm_query", { query: "?" }, { status: "final", stop_reason: "answered", llm_calls: 1, kind: "run" }],
  ["save_repl_session", { ...session, filepath: "f" }, { names: ["x", "y"], name_count: 2, skipped_count: 0 }],
  ["load_repl_session", { session_id: "loaded", filepath: "f" }, { session_id: "loaded", names: ["x", "y"] }],
  ["fork_repl_session", { ...session, new_session_id: "copy" }, { session_id: "copy" }],
  ["list_repl_sessions", {}, { sessions: expect.arrayContaining([expect.objectContaining(session)]) }],
  ["clear_repl_context", session, {}],
  ["clear_repl_session", session, {}],
  ["destroy_repl_session", session, { ...session, state: "closed", variable_count: 0 }],
  ["add_to_stdlib", { function_code: "def f(): pass" }, { names: ["f"] }],
  ["list_stdlib_functions", {}, {}],
];

test("every result has the declared fields and no others, next to the text", { tags: "stress" }, async () => {
  await using mcp = await connect({ isStructured: true, toRLM });
  await using hurried = await connect({ isStructured: true, beside: mcp, timings: { shellMs: 1 } });
  const { tools } = await mcp.client.listTools();
  const schemas = new Map(tools.map(({ name, outputSchema }) => [name, toStrict(outputSchema)]));
  for (const [tool, args, expected] of CALLS) {
    const result = await (args["command"] === LONG ? hurried : mcp).call(tool, args);
    const { structuredContent } = result;
    expect(structuredContent, tool).toMatchObject({ ...expected, text: expect.any(String) });
    expect(schemas.get(tool)?.safeParse(structuredContent).error?.message, tool).toBeUndefined();
    expect(structuredContent, tool).toMatchObject(knownFacts(result));
  }
  expect(new Set(CALLS.map(([tool]) => tool))).toEqual(new Set(ALL_TOOLS.map(({ listing }) => listing.name)));
});

function toRLM(runtime: Runtime): ReturnType<Runtime["rlm"]> {
  const backend = new ScriptedBackend(["```repl\nFINAL(1)\n```"]);
  return runtime.rlm({ backend, model: "root", mode: "rlm", cache: false, log: false });
}

/** The published schema, without room for fields that it does not name. */
function toStrict(schema: object | undefined): z.ZodType {
  return z.fromJSONSchema({ ...schema, additionalProperties: false });
}

/** The facts that have a value. */
function knownFacts(result: CallToolResult): object {
  return Object.fromEntries(Object.entries(factsOf(result) ?? {}).filter(([, value]) => value !== null));
}
