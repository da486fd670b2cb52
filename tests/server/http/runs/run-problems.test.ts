import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ScriptedBackend, type Runtime } from "../../../internals.ts";
import { makeDataFolder } from "../../../make-data-folder.ts";
import { openTestRuntime } from "../../../open.ts";
import { code, isEnd } from "../../../rlm/scripting.ts";
import { openTestServer, type Ask } from "../request.ts";

let data: string;
let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  runtime = await openTestRuntime({ ids: "random" });
  const backend = new ScriptedBackend((request) => (isEnd(request) ? "what I have" : code("print('still busy')")));
  ({ ask } = openTestServer(runtime, { model: { backend, model: "root", mode: "rlm", cache: false } }));
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

const run = (json: object) =>
  ask("POST", "/v1/runs", { json: { query: "?", limits: { tokens: 3_000 }, waitMs: 30_000, ...json } });

test("a run that reaches a limit has its best answer, and with onLimit 'throw' a problem with the facts", async () => {
  const partial = await run({});
  expect(partial.body).toMatchObject({ status: "partial", stopReason: "tokens" });
  expect(partial.body).not.toHaveProperty("problem");
  const thrown = await run({ onLimit: "throw" });
  const problem = { status: 409, code: "TOKEN_BUDGET_EXHAUSTED", facts: { limit: 3_000, used: expect.any(Number) } };
  expect(thrown.body).toMatchObject({ stopReason: "tokens", endedAt: expect.any(String), problem });
  const again = await ask("GET", `/v1/runs/${thrown.body["id"] as string}`);
  expect(again.body["problem"]).toEqual(thrown.body["problem"]);
  const listed = (await ask("GET", "/v1/runs")).body["runs"] as { id: string; status: string }[];
  expect(listed.find(({ id }) => id === thrown.body["id"])?.status).toBe(thrown.body["status"]);
});

test("another value of onLimit is refused", async () => {
  expect(await run({ onLimit: "ignore" })).toMatchObject({ status: 422, body: { code: "INVALID_BODY" } });
});
