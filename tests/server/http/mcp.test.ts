// MCP on the port of the other routes, with the real client.

import { Client, StreamableHTTPClientTransport, type CallToolResult } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedBackend, type Runtime } from "../../internals.ts";
import { listen, type HTTPListener } from "../../../src/server/net/listen.ts";
import { openTestRuntime } from "../../open.ts";
import { code } from "../../rlm/scripting.ts";
import { checkDocumented, openTestServer, TOKEN, type Ask } from "./request.ts";

const ERAS = ["legacy", "modern"] as const;

let runtime: Runtime;
let server: HTTPListener;
let ask: Ask;
const draining = new AbortController();
const closing = new AbortController();
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  const signals = { draining: draining.signal, closing: closing.signal };
  const opened = openTestServer(runtime, signals);
  ({ ask } = opened);
  server = await listen(opened.app, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await server.close(0);
  await runtime.close();
});

async function connect(era: (typeof ERAS)[number], url = server.url): Promise<Client & AsyncDisposable> {
  const client = new Client(
    { name: "tests", version: "1" },
    { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
  );
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit, fetch: fetchDocumented }),
  );
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** Every answer is one that the description has. */
async function fetchDocumented(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const type = response.headers.get("content-type");
  const body = type?.includes("json") === true ? await response.clone().json() : undefined;
  if (init?.method === "POST") checkDocumented("POST", "/mcp", response.status, type, body);
  return response;
}

async function text(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content }: CallToolResult = await client.callTool({ name, arguments: args });
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

describe.each(ERAS)("a client of the %s era", (era) => {
  test("shares sessions with the other routes", async () => {
    await using client = await connect(era);
    const { body: session } = await ask("POST", "/v1/sessions");
    await ask("POST", `/v1/sessions/${String(session["id"])}/execute`, { json: { code: "x = 41" } });
    expect(await text(client, "execute_repl", { session_id: session["id"], code: "x += 1; x" })).toContain("42");
    const id = `mine-${era}`;
    await text(client, "create_repl_session", { session_id: id });
    await text(client, "execute_repl", { session_id: id, code: "y = 'from here'" });
    const { body } = await ask("POST", `/v1/sessions/${id}/execute`, { json: { code: "y" } });
    expect(body).toMatchObject({ value: { "text/plain": "'from here'" } });
  });

  test("shares commands and the default session", async () => {
    await using client = await connect(era);
    await text(client, "shell", { command: `echo ${era} > which` });
    const { body } = await ask("POST", "/v1/tasks", { json: { command: "cat which", waitMs: 20_000 } });
    expect(body).toMatchObject({ sessionId: "default", result: { stdout: `${era}\n` } });
    expect(await text(client, "shell_status", { task_id: body["id"] })).toContain(era);
  });
});

test("other methods, and requests without the token, are refused", async () => {
  expect(await ask("GET", "/mcp")).toMatchObject({ status: 405, body: { code: "METHOD_NOT_ALLOWED" } });
  expect(await ask("DELETE", "/mcp")).toMatchObject({ status: 405 });
  const headers = { authorization: "Bearer wrong" };
  expect(await ask("POST", "/mcp", { headers, json: {} })).toMatchObject({ status: 401 });
  expect(await ask("POST", "/mcp", { headers: { origin: "http://evil.example" } })).toMatchObject({ status: 403 });
  expect(await ask("POST", "/mcp", { body: "{" })).toMatchObject({ status: 400, body: { error: { code: -32_700 } } });
});

test("a configured model answers rlm_query, within the limit on runs; without one the tool is not listed", async () => {
  await using client = await connect("modern");
  const names = async (one: Client) => (await one.listTools()).tools.map(({ name }) => name);
  expect(await names(client)).not.toContain("rlm_query");
  let isSilent = false;
  const backend = new ScriptedBackend(() =>
    isSilent ? new Promise<never>(() => {}) : code("FINAL(context.count('a'))"),
  );
  const model = { backend, model: "m", mode: "rlm", cache: false, log: false } as const;
  const { app, context } = openTestServer(runtime, { model, maxRuns: 1 });
  const other = await listen(app, { host: "127.0.0.1", port: 0 });
  try {
    await using asking = await connect("modern", other.url);
    expect(await names(asking)).toContain("rlm_query");
    expect(await text(asking, "rlm_query", { query: "How many?", context: "banana" })).toMatch(/^3\n/);
    isSilent = true;
    const silent = context.runs.start({ query: "?" });
    expect(await text(asking, "rlm_query", { query: "How many?" })).toMatch(/^Cannot start another run: .*runs/);
    silent.cancel();
    await silent.result;
  } finally {
    await other.close(0);
  }
});

test("a server that shuts down accepts no more messages", async () => {
  draining.abort();
  expect(await ask("POST", "/mcp", { json: {} })).toMatchObject({ status: 503, body: { code: "ENDING" } });
  closing.abort();
});
