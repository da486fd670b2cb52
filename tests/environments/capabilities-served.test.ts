// What HTTP, its client and the version answer say of an environment that lacks capabilities.

import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { connectRuntime } from "../../src/client/index.ts";
import type { Runtime } from "../../src/runtime.ts";
import { openServer, TOKEN, type TestServer } from "../server/ws/connect.ts";
import { begin } from "../open.ts";
import { LIMITED, openLimitedRuntime } from "./limited.ts";

let runtime: Runtime;
let server: TestServer;
beforeAll(async () => {
  runtime = openLimitedRuntime();
  server = await openServer(runtime);
  await runtime.openSession({ id: "s" });
  await begin(await runtime.openSession({ id: "busy" }), "print('begun', flush=True)\nwhile True: pass");
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await runtime?.close();
});

const LOOK = { code: "x", cursor: 1 };

test.each([
  ["fork", "sessions/s/fork", {}, "FORK_REFUSED"],
  ["checkpoint", "sessions/s/checkpoints", {}, "FORK_REFUSED"],
  ["checkpoint", "sessions/s/rewind", { checkpoint: "c1" }, "FORK_REFUSED"],
  ["shell", "tasks", { command: "true" }, "CAPABILITY_MISSING"],
  ["watch", "sessions/s/watch", undefined, "CAPABILITY_MISSING"],
  ["inspectWhileRunning", "sessions/busy/variables/x", undefined, "CAPABILITY_MISSING"],
  ["inspectWhileRunning", "sessions/busy/variables/x/rows", undefined, "CAPABILITY_MISSING"],
  ["inspectWhileRunning", "sessions/busy/complete", LOOK, "CAPABILITY_MISSING"],
  ["inspectWhileRunning", "sessions/busy/signature", LOOK, "CAPABILITY_MISSING"],
])("a problem names the capability '%s' (%s)", async (capability, path, body, code) => {
  const response = await ask(path, body);
  expect(response.headers.get("content-type")).toContain("application/problem+json");
  expect([response.status, await response.json()]).toEqual([
    409,
    expect.objectContaining({
      code,
      facts: expect.objectContaining({ capability }),
      detail: expect.stringMatching(`does not have the capability '${capability}'\\. (Save|Run|List) `),
    }),
  ]);
});

test("sessions say what their environment can do", async () => {
  const expected = { environment: "limited", tier: expect.any(String), capabilities: LIMITED };
  expect(await (await ask("sessions/s")).json()).toMatchObject({ id: "s", ...expected });
  expect(await (await ask("sessions")).json()).toMatchObject({ sessions: [expected, expected] });
});

test("the client rejects with the capability, and reports what there is", async () => {
  await using remote = await connectRuntime({
    url: `http://127.0.0.1:${server.port}`,
    token: TOKEN,
    WebSocket,
  });
  expect(await remote.info()).toMatchObject({ environment: "limited", capabilities: LIMITED });
  const session = await remote.sessions.get("s");
  await expect(session.fork()).rejects.toMatchObject({ code: "FORK_REFUSED", capability: "fork" });
  await expect(session.checkpoint()).rejects.toMatchObject({ code: "FORK_REFUSED", capability: "checkpoint" });
  await expect(session.shell("true").then(String)).rejects.toMatchObject({
    code: "CAPABILITY_MISSING",
    capability: "shell",
  });
  await expect(session.files.watch()).rejects.toMatchObject({ code: "CAPABILITY_MISSING", capability: "watch" });
  expect(await session.info()).toMatchObject({ tier: expect.any(String), capabilities: LIMITED });
  const busy = await remote.sessions.get("busy");
  await expect(busy.inspect("x")).rejects.toMatchObject({
    code: "CAPABILITY_MISSING",
    capability: "inspectWhileRunning",
    environment: "limited",
    message:
      "Cannot inspect 'x' while code runs: environment 'limited' does not have the capability 'inspectWhileRunning'. " +
      "List the variables, or wait until the code has ended",
  });
});

/** With a body: POST. */
function ask(path: string, body?: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/v1/${path}`, {
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
}
