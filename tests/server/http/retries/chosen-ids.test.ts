import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ScriptedBackend, type Runtime } from "../../../internals.ts";
import { makeDataFolder } from "../../../make-data-folder.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer, readEvents, type Ask } from "../request.ts";

let data: string;
let runtime: Runtime;
let ask: Ask;
let session: string;
let asked = 0;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  runtime = await openTestRuntime({ ids: "random" });
  const backend = new ScriptedBackend(() => {
    asked += 1;
    return "FINAL(1)";
  });
  ({ ask } = openTestServer(runtime, { model: { backend, model: "root", mode: "direct", cache: false } }));
  session = `/v1/sessions/${(await runtime.openSession()).id}`;
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

const reused = { status: 409, body: { code: "ID_REUSED" } };
const isReplay = ({ headers }: { headers: Headers }): boolean => headers.get("idempotency-replayed") === "true";

describe("an execution", () => {
  test("has the id that the client chose, and a repeated request runs nothing", async () => {
    const json = { id: "exec-1", code: "import os; n = globals().get('n', 0) + 1; n" };
    const first = await ask("POST", `${session}/execute`, { json });
    expect(first.body).toMatchObject({ executionId: "exec-1", value: { "text/plain": "1" } });
    expect([first.headers.get("execution-id"), first.headers.get("location")]).toEqual([
      "exec-1",
      "/v1/executions/exec-1",
    ]);
    const again = await ask("POST", `${session}/execute`, { json: { ...json, onDisconnect: "interrupt" } });
    expect(again.body).toEqual(first.body);
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    const events = await ask("POST", `${session}/execute`, { json, headers: { accept: "text/event-stream" } });
    expect((await readEvents(events.response)).at(-1)?.type).toBe("execution-end");
    expect(
      (await ask("POST", `${session}/execute`, { json, headers: { prefer: "respond-async" } })).body,
    ).toMatchObject({
      id: "exec-1",
      state: "ended",
    });
  });

  test("with the id of another one is refused, also in another session and as one-off code", async () => {
    await ask("POST", `${session}/execute`, { json: { id: "exec-2", code: "1" } });
    const other = `/v1/sessions/${(await runtime.openSession()).id}`;
    for (const [path, json] of [
      [`${session}/execute`, { code: "2" }],
      [`${session}/execute`, { code: "1", timeoutMs: 5 }],
      [`${other}/execute`, { code: "1" }],
      ["/v1/execute", { code: "1" }],
    ] as const)
      expect(await ask("POST", path, { json: { ...json, id: "exec-2" } }), path).toMatchObject(reused);
    const generated = await ask("POST", `${other}/execute`, { json: { code: "1" } });
    const id = generated.headers.get("execution-id");
    expect(await ask("POST", `${session}/execute`, { json: { id, code: "1" } })).toMatchObject(reused);
  });

  test("that could not start leaves its id free, and one that ran is answered when its session has ended", async () => {
    const json = { id: "exec-3", code: "7" };
    expect((await ask("POST", "/v1/sessions/never/execute", { json })).status).toBe(404);
    const { id } = await runtime.openSession();
    const first = await ask("POST", `/v1/sessions/${id}/execute`, { json });
    await ask("DELETE", `/v1/sessions/${id}`);
    const again = await ask("POST", `/v1/sessions/${id}/execute`, { json });
    expect(again).toMatchObject({ status: 200, body: first.body });
  });

  test("concurrent requests with one id run the code once", async () => {
    const json = { id: "exec-4", code: "once = globals().get('once', 0) + 1; once" };
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask("POST", `${session}/execute`, { json })));
    expect(answers.map(({ body }) => body)).toEqual(answers.map(() => answers[0]?.body));
    expect(answers[0]?.body).toMatchObject({ value: { "text/plain": "1" } });
  });

  test.each(["", "-x", "a/b", "a b", "x".repeat(129)])("%j is no id", async (id) => {
    const refused = await ask("POST", `${session}/execute`, { json: { id, code: "1" } });
    expect(refused).toMatchObject({ status: 422, body: { code: "INVALID_BODY" } });
  });
});

describe("a task", () => {
  test("is started once, with input as text or base64", async () => {
    const json = { id: "task-1", command: "wc -c; echo", stdin: { base64: "AP/+" }, waitMs: 20_000 };
    const first = await ask("POST", "/v1/tasks", { json });
    expect(first).toMatchObject({ status: 201, body: { id: "task-1", status: "completed" } });
    expect((first.body["result"] as { stdout: string }).stdout.trim()).toBe("3");
    const again = await ask("POST", "/v1/tasks", { json: { ...json, waitMs: 0 } });
    expect(again).toMatchObject({ status: 200, body: { id: "task-1" } });
    expect(isReplay(again)).toBe(true);
    const other = { ...json, stdin: { base64: "AAAA" } };
    expect(await ask("POST", "/v1/tasks", { json: other })).toMatchObject(reused);
    const invalid = await ask("POST", "/v1/tasks", { json: { command: "cat", stdin: { base64: "*" } } });
    expect(invalid).toMatchObject({ status: 422, body: { code: "INVALID_BODY" } });
  });
});

describe("a run", () => {
  test("is started once", async () => {
    const json = { id: "run-1", query: "?", context: "abc", waitMs: 20_000 };
    const before = asked;
    const first = await ask("POST", "/v1/runs", { json });
    expect(first).toMatchObject({ status: 201, body: { id: "run-1", status: "final" } });
    expect(await ask("POST", "/v1/runs", { json })).toMatchObject({ status: 200, body: first.body });
    expect(asked - before).toBe(1);
    expect(await ask("POST", "/v1/runs", { json: { ...json, context: "abd" } })).toMatchObject(reused);
  });
});

test("a key and an id together: each finds what was started", async () => {
  const json = { id: "both", code: "8" };
  const path = `${session}/execute`;
  const first = await ask("POST", path, { json, headers: { "idempotency-key": "k1" } });
  for (const headers of [{ "idempotency-key": "k1" }, { "idempotency-key": "k2" }, {}])
    expect((await ask("POST", path, { json, headers })).body).toEqual(first.body);
});
