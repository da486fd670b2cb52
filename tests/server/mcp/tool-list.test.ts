// What clients see of the tools before they call any.

import { describe, expect, test } from "vitest";
import { toInstructions } from "../../../src/server/mcp/instructions.ts";
import { ALL_TOOLS, selectTools } from "../../../src/server/mcp/tools/select-tools.ts";
import { connect, ERAS } from "./connect.ts";

const capabilities = { fork: true, shell: true, network: "none" } as const;

/** What the specification says each tool takes; `?` marks what may be absent. */
const PARAMETERS: Readonly<Record<string, string>> = {
  execute_python: "code, session_id?, timeout?, max_output?",
  get_repl_context: "key?, session_id?",
  set_repl_context: "key, value?, path?, session_id?",
  clear_repl_context: "session_id?",
  create_repl_session: "session_id?, include_stdlib?",
  execute_repl: "session_id, code, timeout?",
  list_repl_sessions: "",
  get_session_namespace: "session_id, variable_name?",
  destroy_repl_session: "session_id",
  clear_repl_session: "session_id",
  save_repl_session: "session_id, filepath",
  load_repl_session: "session_id, filepath",
  fork_repl_session: "session_id, new_session_id?",
  add_to_stdlib: "function_code",
  list_stdlib_functions: "",
  python: "code, timeout?",
  python_session: "code, session_id?",
  shell: "command, session_id?, cwd?, timeout?, max_output?",
  shell_status: "task_id, wait?, offset?, kill?",
  rlm_query: "query, context?, path?, max_depth?, token_budget?",
};

test("there are exactly the tools of the specification, with those parameters", () => {
  const found = ALL_TOOLS.map(({ listing: { name, inputSchema } }) => {
    const { properties, required = [] } = inputSchema;
    return [
      name,
      Object.keys(properties)
        .map((key) => (required.includes(key) ? key : `${key}?`))
        .join(", "),
    ];
  });
  expect(Object.fromEntries(found)).toEqual(PARAMETERS);
});

test("parameters are strings, integers and booleans, and each tool has honest annotations", () => {
  for (const { listing } of ALL_TOOLS) {
    const types = Object.values(listing.inputSchema.properties).map(({ type }) => type);
    expect(types.filter((type) => !["string", "integer", "boolean"].includes(type))).toEqual([]);
    expect(listing.annotations.openWorldHint).toBe(listing.name === "rlm_query");
  }
});

test("the list is the same text in both eras and in another process, of fewer than 2,000 tokens", async () => {
  const texts: string[] = [];
  for (const era of [...ERAS, ...ERAS]) {
    await using mcp = await connect({ era });
    texts.push(JSON.stringify((await mcp.client.listTools()).tools));
  }
  expect(new Set(texts).size).toBe(1);
  // A token is about four characters; all of the JSON counts, also what a model is never shown.
  expect((texts[0]?.length ?? 0) / 4).toBeLessThan(2_000);
});

test.each(ERAS)("a client of the %s era is given the instructions, of at most 500 characters", async (era) => {
  await using mcp = await connect({ era });
  const tools = ALL_TOOLS.map(({ listing }) => listing.name);
  expect(mcp.client.getInstructions()).toBe(toInstructions({ capabilities, tools, hasFiles: false, isShared: false }));
  for (const isShared of [false, true])
    expect(toInstructions({ capabilities, tools, hasFiles: true, isShared }).length).toBeLessThanOrEqual(500);
});

test("the instructions name no tool that is not offered", () => {
  for (const choice of ["core", "shell", "sandbox", "sessions,repl"]) {
    const tools = selectTools(choice).map(({ listing }) => listing.name);
    const texts = [false, true].map((isShared) => toInstructions({ capabilities, tools, hasFiles: true, isShared }));
    const named = texts.join(" ").match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
    expect(named.filter((name) => !tools.includes(name))).toEqual([]);
  }
});

test("the instructions name bash and the missing network only where that is so", () => {
  const firstSentence = (shell: boolean, network: "none" | "all"): string | undefined =>
    toInstructions({ capabilities: { fork: true, shell, network }, tools: [], hasFiles: false, isShared: false }).split(
      ". ",
    )[0];
  expect(firstSentence(true, "none")).toBe("Python and bash in a sandbox without network");
  expect(firstSentence(false, "all")).toBe("Python in a sandbox");
});

test("three tools are loaded up front by clients that hide the others", () => {
  const core = ALL_TOOLS.filter(({ listing }) => listing._meta?.["anthropic/alwaysLoad"] === true);
  expect(core.map(({ listing }) => listing.name)).toEqual(["execute_python", "shell", "shell_status"]);
});

test("with structured results every tool has a schema for them", async () => {
  await using mcp = await connect({ isStructured: true });
  const { tools } = await mcp.client.listTools();
  expect(tools.filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);
});

describe("selectTools", () => {
  const namesOf = (choice: string): string[] => selectTools(choice).map(({ listing }) => listing.name);

  test("knows core, all, groups and names, and keeps one order", () => {
    expect(namesOf("core")).toEqual(["execute_python", "shell", "shell_status"]);
    expect(namesOf("all")).toHaveLength(20);
    expect(namesOf("python, shell")).toEqual(["shell", "shell_status", "python"]);
    expect(namesOf("sandbox")).toContain("set_repl_context");
  });

  test("adds the tool that reads output", () => {
    expect(namesOf("execute_python")).toEqual(["execute_python", "shell_status"]);
    expect(namesOf("repl")).toEqual(["shell_status", "python", "python_session"]);
    expect(namesOf("list_repl_sessions")).toEqual(["list_repl_sessions"]);
  });

  test("lists the choices when there is no such tool", () => {
    expect(() => selectTools("core,pyhton")).toThrow(
      /^There is no tool 'pyhton': choose core, all, a group .*execute_python/,
    );
    expect(() => selectTools("")).toThrow("There is no tool ''");
  });
});
