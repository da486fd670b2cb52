// `rlm serve`, the built program: recursive runs, commands and MCP on one port.

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { countProcesses, uniqueSleep } from "../processes.ts";
import { start, type Program } from "../program.ts";
import { remove } from "../../remove.ts";

const headers = { authorization: "Bearer e2e-token" };
const FINAL = "```repl\nFINAL(len(context))\n```";

let folder: string;
let env: Record<string, string>;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-serve-runs-")));
  mkdirSync(join(folder, "project"));
  for (const name of ["OPENAI_API_KEY", "OPENAI_BASE_URL", "RLM_MODEL", "RLM_BACKEND", "RLM_BASE_URL"])
    vi.stubEnv(name, undefined);
  env = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, "config"),
    RLM_DATA: makeDataFolder(join(folder, "data")),
    RLM_TOKEN: "e2e-token",
  };
});
afterAll(() => {
  vi.unstubAllEnvs();
  remove(folder);
});

interface Server extends AsyncDisposable {
  readonly program: Program;
  readonly url: string;
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
}

async function serve(rules?: readonly object[]): Promise<Server> {
  const script = join(folder, "script.json");
  if (rules !== undefined) writeFileSync(script, JSON.stringify({ rules }));
  const model = rules === undefined ? {} : { RLM_BACKEND: "scripted", RLM_MODEL: script };
  const program = start(["serve", "--port", "0", "--log-level", "error", "--grace", "1"], {
    cwd: join(folder, "project"),
    env: { ...env, ...model },
  });
  const [, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
  return {
    program,
    url,
    ask: async (method, path, body) => {
      const response = await fetch(url + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

test("the configured model answers, and the next server has the recorded runs", async () => {
  let id: unknown;
  {
    await using server = await serve([{ reply: FINAL }]);
    const context = "x".repeat(100_000);
    const { status, body } = await server.ask("POST", "/v1/runs", { query: "How long?", context, waitMs: 30_000 });
    expect({ status, body }).toMatchObject({ status: 201, body: { status: "final", result: { answer: "100000" } } });
    id = body["id"];
    server.program.signal("SIGTERM");
    expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
  }
  await using server = await serve();
  const { body } = await server.ask("GET", `/v1/runs/${String(id)}`);
  expect(body).toMatchObject({ status: "final", result: { answer: "100000" } });
  const events = await (await fetch(`${server.url}/v1/runs/${String(id)}/events?after=1`, { headers })).text();
  expect(events).toMatch(/^id: \d+\nevent: node-start\n[\s\S]*event: run-end\n/);
  expect(await server.ask("POST", "/v1/runs", { query: "?" })).toMatchObject({
    status: 409,
    body: { code: "NO_MODEL", detail: expect.stringContaining("set RLM_MODEL") },
  });
  expect(server.program.text("stderr")).toBe("");
});

test("a signal stops running runs and commands, and leaves nothing", async () => {
  const marker = uniqueSleep();
  const reply = `\`\`\`repl\nimport subprocess; subprocess.run(["sleep", "${marker}"])\n\`\`\``;
  await using server = await serve([{ reply }]);
  const { body } = await server.ask("POST", "/v1/runs", { query: "?", mode: "rlm" });
  const task = await server.ask("POST", "/v1/tasks", { command: `sleep ${marker}; true` });
  expect(task.status).toBe(201);
  await expect.poll(() => countProcesses(marker)).toBe(2);
  server.program.signal("SIGTERM");
  expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
  expect(countProcesses(marker)).toBe(0);
  await using next = await serve();
  expect((await next.ask("GET", `/v1/runs/${String(body["id"])}`)).body).toMatchObject({ status: "cancelled" });
});

test("MCP is on the same port, on the same sessions", async () => {
  await using server = await serve([{ reply: FINAL }]);
  const client = new Client({ name: "tests", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["execute_python", "rlm_query"]));
    await client.callTool({ name: "execute_python", arguments: { code: "x = 6 * 7" } });
    const { body } = await server.ask("POST", "/v1/sessions/default/execute", { code: "x" });
    expect(body).toMatchObject({ value: { "text/plain": "42" } });
  } finally {
    await client.close();
  }
  server.program.signal("SIGTERM");
  expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
});
