// What HTTP, its client and the version answer say of an environment that lacks capabilities.

import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { connectRuntime } from "../../src/client/index.ts";
import type { Runtime } from "../../src/runtime.ts";
import { openServer, TOKEN, type TestServer } from "../server/ws/connect.ts";
import { LIMITED, openLimitedRuntime } from "./limited.ts";

let runtime: Runtime;
let server: TestServer;
beforeAll(async () => {
  runtime = openLimitedRuntime();
  server = await openServer(runtime);
  await runtime.openSession({ id: "s" });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await runtime?.close();
});

test.each([
  ["fork", "sessions/s/fork", {}, "FORK_REFUSED"],
  ["checkpoint", "sessions/s/checkpoints", {}, "FORK_REFUSED"],
  ["checkpoint", "sessions/s/rewind", { checkpoint: "c1" }, "FORK_REFUSED"],
  ["shell", "tasks", { command: "true" }, "CAPABILITY_MISSING"],
])("a problem names the capability '%s' (%s)", async (capability, path, body, code) => {
  const response = await post(path, body);
  expect(response.headers.get("content-type")).toContain("application/problem+json");
  expect([response.status, await response.json()]).toEqual([
    409,
    expect.objectContaining({
      code,
      facts: expect.objectContaining({ capability }),
      detail: expect.stringMatching(`does not have the capability '${capability}'\\. (Save|Run) `),
    }),
  ]);
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
});

function post(path: string, body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
