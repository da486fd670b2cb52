import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ScriptedBackend, type Runtime } from "../../internals.ts";
import { createServerContext } from "../../../src/server/create-context.ts";
import { createApp } from "../../../src/server/http/app.ts";
import { ServerLog } from "../../../src/server/observability/server-log.ts";
import { connectObservers } from "../../../src/server/observability/observer.ts";
import { openLog, type LogLevel } from "../../../src/server/observability/log.ts";
import { openTestRuntime } from "../../open.ts";
import { code } from "../../rlm/scripting.ts";
import { openServer } from "../ws/connect.ts";

const TOKEN = "planted-token";

let runtime: Runtime;
const data = mkdtempSync(join(tmpdir(), "rlm-server-log-"));
beforeAll(async () => {
  vi.stubEnv("RLM_DATA", data);
  runtime = await openTestRuntime({ ids: "random" });
  await runtime.warm();
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

/** A busy minute of a server, and what it logged. */
async function logOf(level: LogLevel): Promise<string> {
  const sink = new PassThrough();
  const logged = text(sink);
  const log = openLog({ level, format: "json", sink });
  const context = createServerContext(runtime);
  const app = createApp(context, { token: TOKEN, ...connectObservers(context, [new ServerLog(log)]) });
  const ask = async (method: string, path: string, body?: object, token = TOKEN) => {
    const headers = { host: "localhost", authorization: `Bearer ${token}` };
    const response = await app.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return (await response.json()) as { id: string };
  };
  const { id } = await ask("POST", "/v1/sessions", { env: { KEY: "planted-env" } });
  const path = `/v1/sessions/${id}/execute`;
  await ask("POST", path, { code: "print('planted-' + 'output'); 'planted-code'", env: { KEY: "planted-value" } });
  await ask("POST", path, { code: "raise ValueError('planted-' + 'error')" });
  await ask("POST", path, { code: 5, "planted-field": 1 });
  await ask("POST", "/v1/tasks", { command: "echo planted-code", sessionId: id, waitMs: 30_000 });
  await ask("GET", "/v1/version?ticket=planted-ticket&token=planted-query");
  await ask("GET", "/v1/version", undefined, "planted-wrong-token");
  await ask("DELETE", `/v1/sessions/${id}`);
  await log.end();
  sink.end();
  return logged;
}

test.each([
  ["is refused again and again", "/v1/version", "localhost", 401],
  ["asks for what is not there", "/v1/nothing", "localhost", 401],
  ["sends no Host", "/v1/health", undefined, 400],
])("a client that %s does not fill the log", async (_, path, host, status) => {
  const sink = new PassThrough();
  const logged = text(sink);
  const log = openLog({ level: "info", format: "json", sink });
  let nowMs = 0;
  const context = createServerContext(runtime);
  const app = createApp(context, { token: TOKEN, ...connectObservers(context, [new ServerLog(log, () => nowMs)]) });
  const ask = async (): Promise<number> => {
    const { status: answered } = await app.request(path, { headers: host === undefined ? {} : { host } });
    return answered;
  };
  expect(await ask()).toBe(status);
  for (let asked = 1; asked < 600; asked += 1) await ask();
  nowMs = 100;
  await ask();
  await ask();
  const headers = { host: "localhost", authorization: `Bearer ${TOKEN}` };
  await app.request("/v1/stdlib", { method: "POST", headers, body: JSON.stringify({ code: "" }) });
  await log.end();
  sink.end();
  const events = (await logged)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events.slice(500)).toEqual([
    expect.objectContaining({ event: "requests-left-out", count: 100 }),
    expect.objectContaining({ event: "request" }),
    expect.objectContaining({ event: "requests-left-out", count: 1 }),
    expect.objectContaining({ event: "request", status: 200 }),
  ]);
});

describe("the log of a busy session", () => {
  test("has a line for each event", async () => {
    const lines = (await logOf("info")).trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.filter(({ event }) => event === "request").map(({ route, status }) => [route, status])).toEqual([
      ["/v1/sessions", 201],
      ["/v1/sessions/{id}/execute", 200],
      ["/v1/sessions/{id}/execute", 200],
      ["/v1/sessions/{id}/execute", 422],
      ["/v1/tasks", 201],
      ["other", 401],
      ["/v1/sessions/{id}", 200],
    ]);
    const others = events.filter(({ event }) => event !== "request");
    expect(others.map(({ event, status }) => [event, status])).toEqual([
      ["session-open", undefined],
      ["execution-end", "ok"],
      ["execution-end", "error"],
      ["task-start", undefined],
      ["task-end", "completed"],
      ["session-close", undefined],
    ]);
    for (const one of events.filter(({ event }) => event === "request")) {
      expect(one["requestId"]).toMatch(/^req-[\da-f]{16}$/);
    }
  });

  test("has requests that read and succeed at level debug", async () => {
    expect(await logOf("info")).not.toContain('"method":"GET","route":"/v1/version","status":200');
    expect(await logOf("debug")).toContain('"method":"GET","route":"/v1/version","status":200');
  });

  test.each(["error", "warn", "info"] as const)("at level %s has nothing that was planted", async (level) => {
    expect(await logOf(level)).not.toContain("planted");
  });

  test("at level debug has code, but no token, ticket, output, or value of a variable", async () => {
    const logged = await logOf("debug");
    expect(logged).toContain("planted-code");
    expect(logged).not.toMatch(/planted-(?:token|wrong-token|ticket|query|env|value|output|error)/);
  });
});

test("activity carries the id of the request that started it, over any interface", async () => {
  const sink = new PassThrough();
  const logged = text(sink);
  const log = openLog({ level: "info", format: "json", sink });
  const model = { backend: new ScriptedBackend(() => code("FINAL(42)")), model: "m", cache: false };
  await using server = await openServer(runtime, { model });
  connectObservers(server.context, [new ServerLog(log)]);
  await using session = await runtime.openSession();
  const path = `/v1/sessions/${session.id}`;
  const ask = async (to: string, json: object, id: string): Promise<void> => {
    const headers = {
      "x-request-id": id,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const response = await server.post(to, json, headers);
    expect([response.ok, response.headers.get("x-request-id")]).toEqual([true, id]);
    await response.text();
  };
  const callTool = (name: string, args: object): object => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: args },
  });
  await ask(`${path}/execute`, { code: "1" }, "over-http");
  await ask("/process/interpreter/execute", { code: "1" }, "once");
  await ask("/v1/tasks", { command: "true", sessionId: session.id, waitMs: 30_000 }, "a-command");
  await ask("/v1/runs", { query: "?", mode: "rlm", waitMs: 30_000 }, "a-question");
  await ask("/mcp", callTool("execute_repl", { session_id: session.id, code: "1" }), "over-mcp");
  await ask("/mcp", callTool("shell", { session_id: session.id, command: "true" }), "a-command-over-mcp");
  await using client = await server.connect(`${path}/ws`, {
    headers: { authorization: "Bearer secret", "x-request-id": "a-socket" },
  });
  await client.execute("1");
  await log.end();
  sink.end();
  const lines = (await logged).trimEnd().split("\n");
  const reported = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => !String(event).startsWith("session-"));
  expect(reported.map(({ event, requestId, connectionId }) => [event, requestId ?? { connectionId }])).toEqual([
    ["execution-end", "over-http"],
    ["execution-end", "once"],
    ["task-start", "a-command"],
    ["task-end", "a-command"],
    ["run-start", "a-question"],
    ["run-end", "a-question"],
    ["execution-end", "over-mcp"],
    ["task-start", "a-command-over-mcp"],
    ["task-end", "a-command-over-mcp"],
    ["execution-end", { connectionId: "a-socket" }],
  ]);
  expect(reported.find(({ event }) => event === "run-end")).toMatchObject({
    status: "final",
    runId: expect.any(String),
  });
});
