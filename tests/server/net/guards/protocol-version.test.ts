import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../../internals.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer, type Ask } from "../../http/request.ts";

let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  runtime = await openTestRuntime();
  ({ ask } = openTestServer(runtime));
});
afterAll(() => runtime.close());

test("every response has the version, also a refusal", async () => {
  for (const [path, headers] of [
    ["/v1/version", {}],
    ["/v1/health", {}],
    ["/v1/nothing", {}],
    ["/v1/sessions", { authorization: "Bearer wrong" }],
    ["/v1/sessions", { host: "evil.example" }],
  ] as const)
    expect((await ask("GET", path, { headers })).headers.get("rlm-protocol"), path).toBe("1");
  expect((await ask("GET", "/v1/version")).body["protocol"]).toBe(1);
});

test.each([
  ["1", 200, undefined],
  [" 1", 200, undefined],
  ["2", 400, /this server speaks 1: update the server/],
  ["0", 400, /update the client/],
  ["x".repeat(200), 400, /update the client/],
])("a client of version %j", async (version, status, detail) => {
  const { body, ...answered } = await ask("GET", "/v1/sessions", { headers: { "rlm-protocol": version } });
  expect(answered.status).toBe(status);
  if (detail === undefined) return;
  expect(body["code"]).toBe("PROTOCOL_VERSION");
  expect(body["detail"]).toMatch(detail);
});
