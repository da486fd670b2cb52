import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../../internals.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer } from "../request.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random", limits: { sessions: 2, waiting: 1 } });
  await runtime.warm();
});
afterAll(() => runtime.close());

test("executions beyond the limit: 429, temporary ones too; then it recovers", async () => {
  await using session = await runtime.openSession();
  const { context, ask } = openTestServer(runtime, { executions: { running: 1 } });
  const path = `/v1/sessions/${session.id}/execute`;
  const begun = await ask("POST", path, {
    json: { code: "input()", input: "ask" },
    headers: { prefer: "respond-async" },
  });
  for (const [where, json] of [
    [path, { code: "1" }],
    ["/process/interpreter/execute", { code: "1" }],
  ] as const) {
    const { status, body, headers } = await ask("POST", where, { json });
    expect({ status, code: body["code"], retry: headers.get("retry-after") }).toEqual({
      status: 429,
      code: "LIMIT_EXCEEDED",
      retry: "1",
    });
  }
  await ask("POST", `/v1/executions/${String(begun.body["id"])}/cancel`);
  await context.executions.idle();
  expect((await ask("POST", path, { json: { code: "1" } })).status).toBe(200);
  await expect.poll(() => runtime.sessions.list().length).toBe(1);
});

test("code beyond the queue of a session: 429; then it recovers", async () => {
  await using session = await runtime.openSession();
  const { ask } = openTestServer(runtime);
  const path = `/v1/sessions/${session.id}`;
  const begin = (code: string) =>
    ask("POST", `${path}/execute`, { json: { code }, headers: { prefer: "respond-async" } });
  await begin("while True: pass");
  await expect.poll(() => session.state).toBe("running");
  expect((await begin("1")).body["state"]).toBe("waiting");
  const { status, body, headers } = await begin("2");
  expect([status, body["code"], headers.get("retry-after")]).toEqual([429, "SESSION_BUSY", "1"]);
  await ask("POST", `${path}/interrupt`);
  expect((await ask("POST", `${path}/execute`, { json: { code: "3" } })).body["value"]).toEqual({ "text/plain": "3" });
});

test("more code than the limit on its size: 429; then it recovers", async () => {
  await using session = await runtime.openSession();
  const { context, ask } = openTestServer(runtime, { executions: { codeBytes: 1000 } });
  const path = `/v1/sessions/${session.id}/execute`;
  const code = `input() ${"#".repeat(900)}`;
  const headers = { prefer: "respond-async" };
  const begun = await ask("POST", path, { json: { code, input: "ask" }, headers });
  const refused = await ask("POST", path, { json: { code }, headers });
  expect(refused).toMatchObject({ status: 429, body: { code: "LIMIT_EXCEEDED" } });
  await ask("POST", `/v1/executions/${String(begun.body["id"])}/cancel`);
  await context.executions.idle();
  expect((await ask("POST", path, { json: { code } })).status).toBe(200);
});

test("sessions beyond the limit: 429", async () => {
  await using first = await runtime.openSession();
  await using second = await runtime.openSession();
  const { ask } = openTestServer(runtime);
  const { status, body, headers } = await ask("POST", "/v1/sessions", { json: {} });
  expect([status, body["code"], headers.get("retry-after")]).toEqual([429, "LIMIT_EXCEEDED", "1"]);
  expect(first.id).not.toBe(second.id);
});

test("when the limit on requests is reached, what they wait for can be inspected and ended", async () => {
  await using session = await runtime.openSession();
  const { ask } = openTestServer(runtime, { limits: { requests: 1 } });
  const path = `/v1/sessions/${session.id}`;
  const waiting = ask("POST", `${path}/execute`, { json: { code: "while True: pass" } });
  await expect.poll(() => session.state).toBe("running");
  expect(await ask("POST", `${path}/execute`, { json: { code: "1" } })).toMatchObject({
    status: 503,
    body: { code: "OVERLOADED" },
  });
  for (const look of ["/metrics", "/v1/sessions", path]) expect((await ask("GET", look)).status).toBe(200);
  expect((await ask("POST", `${path}/interrupt`)).body).toMatchObject({ hasEnded: true, state: "kept" });
  expect((await waiting).body).toMatchObject({ status: "interrupted" });
});

test("the result of a temporary execution is not kept", async () => {
  const { ask } = openTestServer(runtime);
  const { body } = await ask("POST", "/process/interpreter/execute", { json: { code: "1" } });
  expect(await ask("GET", `/v1/executions/${String(body["executionId"])}`)).toMatchObject({ status: 404 });
});

test("sessions have the configured defaults, unless the request says otherwise", async () => {
  const { ask } = openTestServer(runtime, {
    sessionDefaults: { env: { A: "server", B: "server" }, includeStdlib: false },
  });
  const opened = await ask("POST", "/v1/sessions", { json: { env: { B: "request" } } });
  const code = "import os; os.environ['A'] + ' ' + os.environ['B']";
  const { body } = await ask("POST", `/v1/sessions/${String(opened.body["id"])}/execute`, { json: { code } });
  expect(body).toMatchObject({ value: { "text/plain": "'server request'" } });
  const once = await ask("POST", "/process/interpreter/execute", { json: { code, envs: { A: "request" } } });
  expect(once.body).toMatchObject({ value: { "text/plain": "'request server'" } });
  await ask("DELETE", `/v1/sessions/${String(opened.body["id"])}`);
});

test("during shutdown nothing starts, and running work can be inspected, answered, cancelled and closed", async () => {
  const draining = new AbortController();
  const { ask } = openTestServer(runtime, { draining: draining.signal });
  const { body: session } = await ask("POST", "/v1/sessions", { json: {} });
  const path = `/v1/sessions/${String(session["id"])}`;
  const begun = await ask("POST", `${path}/execute`, {
    json: { code: "while True: pass" },
    headers: { prefer: "respond-async" },
  });
  draining.abort();
  for (const where of ["/v1/sessions", `${path}/execute`, `${path}/reset`, "/process/interpreter/execute"]) {
    const { status, body, headers } = await ask("POST", where, {
      json: where.endsWith("execute") ? { code: "1" } : {},
    });
    expect([where, status, body["code"], headers.get("connection")]).toEqual([where, 503, "ENDING", "close"]);
    expect(headers.get("retry-after")).toBe("5");
  }
  expect((await ask("GET", "/v1/health")).body).toMatchObject({ status: "ending", ready: false });
  expect((await ask("GET", "/v1/health/ready")).status).toBe(503);
  expect((await ask("GET", path)).status).toBe(200);
  expect((await ask("POST", `/v1/executions/${String(begun.body["id"])}/cancel`)).status).toBe(202);
  expect((await ask("POST", `${path}/interrupt`)).status).toBe(200);
  expect((await ask("DELETE", path)).status).toBe(200);
});
