import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../../internals.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer, type Ask } from "../request.ts";

let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask } = openTestServer(runtime));
});
afterAll(() => runtime.close());

test("closing again, also by another client, answers with the same statistics", async () => {
  const { id } = await runtime.openSession();
  await ask("POST", `/v1/sessions/${id}/execute`, { json: { code: "x = 1" } });
  const [first, second] = await Promise.all([1, 2].map(() => ask("DELETE", `/v1/sessions/${id}`)));
  expect(first).toMatchObject({ status: 200, body: { id, state: "closed", executionCount: 1 } });
  expect(second?.body).toEqual(first?.body);
  expect((await ask("DELETE", `/v1/sessions/${id}`)).body).toEqual(first?.body);
});

test("requests to a closed session say why it is gone, and to an unknown one that it never was", async () => {
  const session = await runtime.openSession({ id: "gone" });
  await session.close("it was idle for too long");
  const requests: [string, string, object?][] = [
    ["GET", "/v1/sessions/gone"],
    ["POST", "/v1/sessions/gone/execute", { code: "1" }],
    ["POST", "/v1/sessions/gone/interrupt"],
    ["GET", "/v1/sessions/gone/variables/x/value"],
    ["GET", "/v1/sessions/gone/files"],
    ["GET", "/v1/sessions/gone/ws"],
    ["POST", "/v1/tickets", { sessionId: "gone" }],
    ["POST", "/v1/tasks", { command: "true", sessionId: "gone" }],
  ];
  for (const [method, path, json] of requests) {
    const problem = { code: "SESSION_CLOSED", detail: "Cannot use session 'gone': it was idle for too long" };
    expect(await ask(method, path, json && { json }), path).toMatchObject({ status: 410, body: problem });
    const unknown = await ask(
      method,
      path.replace("gone", "never"),
      json && { json: { ...json, ...("sessionId" in json && { sessionId: "never" }) } },
    );
    expect(unknown, path).toMatchObject({ status: 404, body: { code: "SESSION_NOT_FOUND" } });
  }
});

test("a new session of the same id takes the place of the closed one", async () => {
  await (await runtime.openSession({ id: "again" })).close();
  expect((await ask("POST", "/v1/sessions", { json: { id: "again" } })).status).toBe(201);
  expect(await ask("GET", "/v1/sessions/again")).toMatchObject({ status: 200, body: { state: "idle" } });
  expect(await ask("DELETE", "/v1/sessions/again")).toMatchObject({ status: 200, body: { state: "closed" } });
});

test("sessions of one-off code are not remembered", async () => {
  const { body } = await ask("POST", "/process/interpreter/execute", { json: { code: "1" } });
  expect((await ask("GET", `/v1/sessions/${body["sessionId"] as string}`)).status).toBe(404);
});

test("a session may name its environment; one that there is not is the client's mistake", async () => {
  const opened = await ask("POST", "/v1/sessions", { json: { environment: "local" } });
  expect(opened).toMatchObject({ status: 201, body: { environment: "local" } });
  const environment = "locl";
  const refused = await ask("POST", "/v1/sessions", { json: { environment } });
  expect(refused).toMatchObject({ status: 422, body: { code: "ENVIRONMENT_UNAVAILABLE", facts: { environment } } });
  expect(refused.headers.has("retry-after")).toBe(false);
});

test("a request that names a session by its createdAt never reaches a later one with its id", async () => {
  const first = await runtime.openSession({ id: "again" });
  const headers = { "rlm-session-created": first.createdAt };
  expect(await ask("GET", "/v1/sessions/again", { headers })).toMatchObject({ status: 200 });
  const closed = await ask("DELETE", "/v1/sessions/again", { headers });
  while (new Date().toISOString() === first.createdAt);
  const second = await runtime.openSession({ id: "again" });
  const requests: [string, string, object?][] = [
    ["GET", "/v1/sessions/again"],
    ["POST", "/v1/sessions/again/execute", { code: "1" }],
    ["POST", "/v1/sessions/again/reset"],
    ["GET", "/v1/sessions/again/files"],
    ["GET", "/v1/sessions/again/ws"],
    ["POST", "/v1/tickets", { sessionId: "again" }],
    ["POST", "/v1/tasks", { command: "true", sessionId: "again" }],
  ];
  for (const [method, path, json] of requests) {
    const answer = await ask(method, path, { headers, ...(json && { json }) });
    expect(answer, path).toMatchObject({ status: 410, body: { code: "SESSION_CLOSED" } });
  }
  expect(await ask("DELETE", "/v1/sessions/again", { headers })).toMatchObject({ status: 200, body: closed.body });
  expect(second.state).toBe("idle");
  expect(await ask("DELETE", "/v1/sessions/again")).toMatchObject({ status: 200 });
  expect(await ask("DELETE", "/v1/sessions/again", { headers })).toMatchObject({
    status: 410,
    body: { detail: "Cannot use session 'again': it has ended" },
  });
});

test("the output of an execution may be limited to a session", async () => {
  const { id } = await runtime.openSession();
  const { headers } = await ask("POST", `/v1/sessions/${id}/execute`, { json: { code: "print(1)" } });
  const path = `/v1/executions/${headers.get("execution-id")}/output`;
  expect(await (await ask("GET", `${path}?sessionId=${id}`)).response.text()).toBe("1\n");
  expect(await ask("GET", `${path}?sessionId=another`)).toMatchObject({
    status: 404,
    body: { code: "EXECUTION_NOT_FOUND" },
  });
});
