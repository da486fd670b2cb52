import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ScriptedBackend, type Runtime } from "../../../internals.ts";
import { StartJournal } from "../../../../src/server/context/start-journal.ts";
import { makeFolder } from "../../../../src/util/data-folder.ts";
import { makeDataFolder } from "../../../make-data-folder.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer, type Ask } from "../request.ts";

let data: string;
let runtime: Runtime;
let asked = 0;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  makeFolder(join(data, "server"));
  runtime = await openTestRuntime({ ids: "random" });
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

/** A server as after a restart: with the journal, and nothing in memory. */
async function restart(): Promise<Ask> {
  await runtime.close();
  runtime = await openTestRuntime({ ids: "random" });
  const backend = new ScriptedBackend(() => {
    asked += 1;
    return "FINAL(1)";
  });
  const journal = StartJournal.open(join(data, "server"));
  return openTestServer(runtime, { journal, model: { backend, model: "root", mode: "direct", cache: false } }).ask;
}

const lost = { status: 410, body: { code: "OUTCOME_LOST" } };

test("a retry after a restart does not run the work again", async () => {
  let ask = await restart();
  const key = (name: string) => ({ "idempotency-key": name });
  const requests: [string, object, Record<string, string>][] = [
    ["/v1/sessions", { id: "named" }, key("s1")],
    ["/v1/tasks", { id: "t-1", command: "true" }, {}],
    ["/v1/tasks", { command: "true" }, key("t2")],
    ["/v1/execute", { id: "x-1", code: "1" }, {}],
    ["/v1/execute", { code: "1" }, key("x2")],
  ];
  for (const [path, json, headers] of requests)
    expect((await ask("POST", path, { json, headers })).status, path).toBeLessThan(300);
  ask = await restart();
  for (const [path, json, headers] of requests) {
    expect(await ask("POST", path, { json, headers }), path).toMatchObject(lost);
    expect(await ask("POST", path, { json, headers }), path).toMatchObject(lost);
  }
  expect(await ask("POST", "/v1/tasks", { json: { id: "t-1", command: "false" } })).toMatchObject({ status: 409 });
  expect(await ask("POST", "/v1/tasks", { json: { command: "false" }, headers: key("t2") })).toMatchObject({
    status: 422,
  });
  // A key that is new, with an id of before.
  expect(await ask("POST", "/v1/tasks", { json: { id: "t-1", command: "true" }, headers: key("t3") })).toMatchObject(
    lost,
  );
  expect(await ask("POST", "/v1/tasks", { json: { id: "t-1", command: "true" }, headers: key("t3") })).toMatchObject(
    lost,
  );
  expect(runtime.tasks.list()).toEqual([]);
});

test("a run is answered from its record, by id and by key, and lost where that is gone", async () => {
  let ask = await restart();
  const before = asked;
  const chosen = { json: { id: "r-chosen", query: "?", waitMs: 20_000 } };
  const keyed = { json: { query: "?", waitMs: 20_000 }, headers: { "idempotency-key": "r1" } };
  const first = [await ask("POST", "/v1/runs", chosen), await ask("POST", "/v1/runs", keyed)];
  for (const { body } of first) await runtime.runs.settled(body["id"] as string);
  ask = await restart();
  const again = [await ask("POST", "/v1/runs", chosen), await ask("POST", "/v1/runs", keyed)];
  expect(again.map(({ status }) => status)).toEqual([200, 200]);
  expect(again.map(({ body }) => body["result"])).toEqual(first.map(({ body }) => body["result"]));
  expect(asked - before).toBe(2);
  rmSync(join(data, "runs"), { recursive: true });
  expect(await ask("POST", "/v1/runs", chosen)).toMatchObject(lost);
  expect(await ask("POST", "/v1/runs", keyed)).toMatchObject(lost);
});

test("what could not start is not remembered, and executions of a session are not", async () => {
  let ask = await restart();
  const json = { id: "late", command: "true", sessionId: "nope" };
  expect((await ask("POST", "/v1/tasks", { json })).status).toBe(404);
  await runtime.openSession({ id: "s" });
  expect((await ask("POST", "/v1/sessions/s/execute", { json: { id: "e-1", code: "1" } })).status).toBe(200);
  ask = await restart();
  await runtime.openSession({ id: "nope" });
  await runtime.openSession({ id: "s" });
  expect((await ask("POST", "/v1/tasks", { json })).status).toBe(201);
  expect((await ask("POST", "/v1/sessions/s/execute", { json: { id: "e-1", code: "1" } })).status).toBe(200);
});
