import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { openTestServer, readEvents, type Ask } from "./request.ts";

let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask } = openTestServer(runtime, { sessionDefaults: { env: { FROM: "server" } }, executions: { ended: 3 } }));
});
afterAll(() => runtime.close());

const execute = (json: object, headers: Record<string, string> = {}) => ask("POST", "/v1/execute", { json, headers });

test("the code has a session of its own, which ends with it", async () => {
  const code = "import os, sys; print(os.environ['FROM'], os.environ['A'], sys.argv); x = 1";
  const first = await execute({ code, env: { A: "b" }, argv: ["p", "q"] });
  expect(first).toMatchObject({ status: 200, body: { status: "ok", stdout: "server b ['p', 'q']\n" } });
  expect((await execute({ code: "x" })).body).toMatchObject({ status: "error", error: { name: "NameError" } });
  await expect.poll(() => runtime.sessions.list()).toEqual([]);
  expect((await ask("GET", `/v1/sessions/${first.body["sessionId"] as string}`)).status).toBe(404);
});

test("the result, the output and the events stay after the session has ended", async () => {
  const json = { id: "kept", code: "print('x' * 2_000_000); 5" };
  const begun = await execute(json, { prefer: "respond-async" });
  expect(begun).toMatchObject({ status: 202, body: { id: "kept" } });
  expect((await ask("GET", "/v1/executions/kept?waitMs=20000")).body).toMatchObject({
    state: "ended",
    result: { value: { "text/plain": "5" } },
  });
  await expect.poll(() => runtime.sessions.list()).toEqual([]);
  const output = await ask("GET", "/v1/executions/kept/output?offset=1999990");
  expect(await output.response.text()).toBe(`${"x".repeat(10)}\n`);
  const events = await readEvents((await ask("GET", "/v1/executions/kept/events")).response);
  const printed = events.filter(({ type }) => type === "output-delta").map(({ data }) => data["text"] as string);
  expect(printed.join("").length).toBe(2_000_001);
  expect((await execute(json, { accept: "text/event-stream" })).headers.get("idempotency-replayed")).toBe("true");
});

test("what is no longer kept is not found, and its output is dropped", async () => {
  await execute({ id: "old", code: "print(1)" });
  for (let n = 0; n < 3; n += 1) await execute({ code: "2" });
  expect((await ask("GET", "/v1/executions/old")).status).toBe(404);
});

test("events as they happen, a question included, and the answer to one call only", async () => {
  const { response } = await execute(
    { id: "asks", code: "print(input('a?'), input('b?'))", input: "ask" },
    { accept: "text/event-stream" },
  );
  const answer = (json: object) => ask("POST", "/v1/executions/asks/stdin", { json });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (const line of ["one", "two"]) {
    while (!text.includes("event: input-start")) text += (await reader?.read())?.value ?? "";
    const call = Number(/"call":(\d+)/.exec(text.slice(text.indexOf("event: input-start")))?.[1]);
    text = "";
    expect(await answer({ text: "wrong", call: call + 1 })).toMatchObject({
      status: 409,
      body: { code: "NOT_WAITING" },
    });
    expect((await answer({ text: line, call })).status).toBe(204);
    expect(await answer({ text: "late", call })).toMatchObject({ status: 409, body: { code: "NOT_WAITING" } });
  }
  await reader?.cancel();
  expect((await ask("GET", "/v1/executions/asks?waitMs=20000")).body).toMatchObject({
    result: { stdout: "a?b?one two\n" },
  });
});

test.each<[string, object, number, string]>([
  ["variables, which nobody could use", { variables: true }, 422, "INVALID_BODY"],
  ["too much memory", { limits: { memoryBytes: 2 ** 50 } }, 422, "INVALID_BODY"],
  ["an environment that there is not", { environment: "nowhere" }, 422, "ENVIRONMENT_UNAVAILABLE"],
  ["a folder outside", { cwd: "\0" }, 422, "INVALID"],
])("%s is refused, and leaves no session", async (_, more, status, code) => {
  const refused = await execute({ code: "1", ...more });
  expect(refused.status).toBe(status);
  expect(refused.body["code"]).toBe(code);
  expect(runtime.sessions.list()).toEqual([]);
});

test("the code is interrupted when the client disconnects, where it asks for that", async () => {
  const controller = new AbortController();
  const json = { id: "cut", code: "import time; time.sleep(60)", onDisconnect: "interrupt" };
  const asking = ask("POST", "/v1/execute", { json, signal: controller.signal }).catch(() => {});
  await expect.poll(async () => (await ask("GET", "/v1/executions/cut")).body["state"]).toBe("running");
  controller.abort();
  const ended = await ask("GET", "/v1/executions/cut?waitMs=20000");
  expect(ended.body).toMatchObject({ result: { status: "interrupted", reason: "cancelled" } });
  await asking;
});
