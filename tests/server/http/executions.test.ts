import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Runtime } from "../../internals.ts";
import { WorkerLostError } from "../../../src/errors.ts";
import type { ExecutionId, SessionId } from "../../../src/protocol/ids.ts";
import { SpillFiles } from "../../../src/output/spill-file.ts";
import { Execution } from "../../../src/session/execution/execution.ts";
import { openTestRuntime } from "../../open.ts";
import { openTestServer, readEvents, type Ask } from "./request.ts";

let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask } = openTestServer(runtime));
});
afterAll(() => runtime.close());

async function openSession(options: object = {}): Promise<string> {
  const { status, body } = await ask("POST", "/v1/sessions", { json: options });
  expect(status).toBe(201);
  return body["id"] as string;
}

describe("execute", () => {
  test("keeps state, and responds with a complete result", async () => {
    const id = await openSession();
    await ask("POST", `/v1/sessions/${id}/execute`, { json: { code: "x = 20" } });
    const { status, body, headers } = await ask("POST", `/v1/sessions/${id}/execute`, {
      json: { code: "print('out'); x + 22", variables: true },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: "ok",
      stdout: "out\n",
      value: { "text/plain": "42" },
      truncated: null,
      executionId: headers.get("execution-id"),
      usage: { cpuMs: expect.any(Number), peakMemoryBytes: expect.any(Number) },
      variables: { variables: [expect.objectContaining({ name: "x", type: "int" })], total: 1 },
    });
  });

  test("truncated output is reported, and can be read by offset", async () => {
    const id = await openSession();
    const code = "import sys\nprint('a' * 3_000_000)\nprint('b', file=sys.stderr)";
    const { body } = await ask("POST", `/v1/sessions/${id}/execute`, { json: { code } });
    const { total, omitted } = (body["truncated"] as { stdout: { total: number; omitted: number } }).stdout;
    expect(body["truncated"]).toEqual({ stdout: { total: 3_000_001, omitted } });
    expect(total - omitted).toBe(1024 * 1024);
    const path = `/v1/executions/${String(body["executionId"])}`;
    const { headers, response } = await ask("GET", `${path}/output?stream=stdout&offset=2999999`);
    expect([await response.text(), headers.get("next-offset"), headers.get("readable-bytes")]).toEqual([
      "a\n",
      "3000001",
      "3000001",
    ]);
    const events = await readEvents((await ask("GET", `${path}/events`)).response);
    expect(events.at(-1)?.data).toMatchObject({ result: { truncated: body["truncated"] } });
    const printed = events.filter(({ data }) => data["stream"] === "stdout").map(({ data }) => data["text"]);
    expect(printed.join("")).toHaveLength(3_000_001);
  });

  test("events have both streams in the order in which the code printed, and the result has them apart", async () => {
    const id = await openSession();
    const code = "import sys\nfor i in range(4): print(i, file=(sys.stdout, sys.stderr)[i % 2])";
    const { body } = await ask("POST", `/v1/sessions/${id}/execute`, { json: { code } });
    expect(body).toMatchObject({ stdout: "0\n2\n", stderr: "1\n3\n" });
    const events = await readEvents(
      (await ask("GET", `/v1/executions/${String(body["executionId"])}/events`)).response,
    );
    const printed = events.filter(({ type }) => type === "output-delta").map(({ data }) => data["text"]);
    expect(printed).toEqual(["0\n", "1\n", "2\n", "3\n"]);
  });

  test("variables come after the end of a stream, and a closed session costs no result", async () => {
    const id = await openSession();
    const execute = (code: string, headers = {}) =>
      ask("POST", `/v1/sessions/${id}/execute`, { json: { code, variables: true }, headers });
    const { response } = await execute("x = 1", { accept: "text/event-stream" });
    expect((await readEvents(response)).slice(-2)).toMatchObject([
      { type: "execution-end" },
      { type: "variables", data: { executionId: `${id}.1`, variables: [{ name: "x" }], total: 1 } },
    ]);
    const late = execute("while True: pass");
    await expect.poll(async () => (await ask("GET", `/v1/sessions/${id}`)).body["state"]).toBe("running");
    await ask("DELETE", `/v1/sessions/${id}`);
    expect(await late).toMatchObject({ status: 200, body: { status: "interrupted", variables: null } });
  });

  test("code that the session could not run gives a problem: as a response, in a stream, and later", async () => {
    const id = await openSession();
    const why = new WorkerLostError("Cannot execute code: the worker was lost");
    vi.spyOn(runtime.sessions.get(id), "execute").mockImplementation((code) => {
      const bounds = { keptBytes: 1, readableBytes: 1, files: new SpillFiles() };
      const execution = new Execution(`${id}.1` as ExecutionId, id as SessionId, 1, code, bounds);
      execution.fail(why);
      return execution;
    });
    const execute = (headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `/v1/sessions/${id}/execute`, { json: { code: "1" }, headers });
    const problem = { status: 503, code: "WORKER_LOST", detail: why.message };
    expect(await execute()).toMatchObject({ status: 503, body: problem });
    const failed = [{ type: "execution-failed", data: { executionId: `${id}.1`, problem } }];
    expect(await readEvents((await execute({ accept: "text/event-stream" })).response)).toMatchObject(failed);
    expect((await ask("GET", `/v1/executions/${id}.1`)).body).toMatchObject({ state: "ended", result: null, problem });
    expect(await readEvents((await ask("GET", `/v1/executions/${id}.1/events`)).response)).toMatchObject(failed);
  });

  test("streams the same events, each with its cursor", async () => {
    const id = await openSession();
    const { response, headers } = await ask("POST", `/v1/sessions/${id}/execute`, {
      json: { code: "import sys\nprint('a')\nprint('b', file=sys.stderr)\n7" },
      headers: { accept: "text/event-stream" },
    });
    const events = await readEvents(response);
    expect(events.map(({ type }) => type)).toEqual([
      "execution-start",
      "output-delta",
      "output-delta",
      "execution-end",
    ]);
    expect(events.at(-1)?.data).toMatchObject({ result: { status: "ok", value: { "text/plain": "7" } } });
    for (const [index, { id: cursor }] of events.entries()) {
      const again = await ask("GET", `/v1/executions/${headers.get("execution-id")}/events`, {
        headers: { "last-event-id": cursor },
      });
      expect(await readEvents(again.response)).toEqual(events.slice(index + 1));
    }
  });

  test("a retry with a key runs the code once; another body with the key is refused", async () => {
    const id = await openSession();
    const post = (code: string) =>
      ask("POST", `/v1/sessions/${id}/execute`, { json: { code }, headers: { "idempotency-key": "k1" } });
    await ask("POST", `/v1/sessions/${id}/execute`, { json: { code: "n = 0" } });
    const [first, second] = await Promise.all([post("n += 1; n"), post("n += 1; n")]);
    const third = await post("n += 1; n");
    expect([first, second, third].map(({ body }) => body["value"] as object)).toEqual(
      Array.from({ length: 3 }, () => ({ "text/plain": "1" })),
    );
    expect(third.headers.get("idempotency-replayed")).toBe("true");
    expect(await post("n += 2")).toMatchObject({ status: 422, body: { code: "KEY_REUSED" } });
  });

  test("goes on without its client, and is found by its id", async () => {
    const id = await openSession();
    const begun = await ask("POST", `/v1/sessions/${id}/execute`, {
      json: { code: "input('who? ')", input: "ask" },
      headers: { prefer: "respond-async" },
    });
    expect(begun).toMatchObject({ status: 202, body: { result: null } });
    const path = `/v1/executions/${String(begun.body["id"])}`;
    const answered = async () => (await ask("POST", `${path}/stdin`, { json: { text: "Ada" } })).status;
    await expect.poll(answered).toBe(204);
    const { body } = await ask("GET", `${path}?waitMs=10000`);
    expect(body).toMatchObject({ state: "ended", result: { value: { "text/plain": "'Ada'" }, stdout: "who? " } });
    const { response, headers } = await ask("GET", `${path}/output?offset=1&length=3`);
    expect([await response.text(), headers.get("next-offset"), headers.get("total-bytes")]).toEqual(["ho?", "4", "5"]);
    expect(await ask("POST", `${path}/stdin`, { json: { text: "" } })).toMatchObject({ body: { code: "NOT_WAITING" } });
  });

  test("is interrupted when its client disconnects, if the request says so", async () => {
    const id = await openSession();
    const client = new AbortController();
    const asked = ask("POST", `/v1/sessions/${id}/execute`, {
      json: { code: "while True: pass", onDisconnect: "interrupt" },
      signal: client.signal,
    });
    await expect.poll(() => runtime.sessions.get(id).state).toBe("running");
    client.abort();
    expect((await asked).body).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
  });

  test("an interrupt responds with its effect", async () => {
    const id = await openSession();
    expect((await ask("POST", `/v1/sessions/${id}/interrupt`)).body).toEqual({
      interrupted: null,
      hasEnded: true,
      state: null,
    });
    const { response } = await ask("POST", `/v1/sessions/${id}/execute`, {
      json: { code: "print('up', flush=True)\nwhile True: pass" },
      headers: { accept: "text/event-stream" },
    });
    const reader = response.body?.getReader();
    let seen = "";
    while (!seen.includes("up")) seen += new TextDecoder().decode((await reader?.read())?.value);
    const { body } = await ask("POST", `/v1/sessions/${id}/interrupt`);
    expect(body).toMatchObject({ interrupted: expect.stringContaining(id), hasEnded: true, state: "kept" });
    await reader?.cancel();
  });

  test("the history leads to whole executions, whoever started them", async () => {
    await using session = await runtime.openSession();
    const code = `print('printed')\nx = 1  # ${"long ".repeat(3000)}\nx`;
    await session.execute(code).result; // not over HTTP
    await ask("POST", `/v1/sessions/${session.id}/execute`, { json: { code: "1 / 0" } });
    const { body } = await ask("GET", `/v1/sessions/${session.id}/executions`);
    const entries = body["executions"] as { executionId: string; code: string }[];
    expect(entries).toMatchObject([
      { executionCount: 1, parent: 0, code: code.slice(0, 10_000), status: "ok" },
      { executionCount: 2, parent: 1, code: "1 / 0", status: "error" },
    ]);
    const [first, second] = entries.map(({ executionId }) => `/v1/executions/${executionId}`);
    expect((await ask("GET", `${first}`)).body).toMatchObject({ state: "ended", result: { stdout: "printed\n" } });
    expect((await ask("GET", `${second}`)).body).toMatchObject({ result: { error: { name: "ZeroDivisionError" } } });
    const events = await readEvents((await ask("GET", `${first}/events`)).response);
    expect(events.map(({ data }) => data)).toMatchObject([
      { type: "execution-start", code },
      { type: "output-delta", text: "printed\n" },
      { type: "execution-end", result: { status: "ok", value: { "text/plain": "1" } } },
    ]);
  });

  test("unknown ids are 404, invalid requests 422", async () => {
    const id = await openSession();
    expect(await ask("GET", "/v1/executions/nope")).toMatchObject({
      status: 404,
      body: { code: "EXECUTION_NOT_FOUND" },
    });
    expect(await ask("POST", "/v1/sessions/nope/execute", { json: { code: "1" } })).toMatchObject({ status: 404 });
    expect(await ask("POST", `/v1/sessions/${id}/execute`, { json: { cod: "1" } })).toMatchObject({ status: 422 });
    expect(await ask("POST", `/v1/sessions/${id}/execute`, { body: '{"code":"1","code":"2"}' })).toMatchObject({
      status: 422,
      body: { detail: "The body has the field 'code' twice" },
    });
  });
});

test("a retry with a key returns the same session, and says so", async () => {
  const open = () => ask("POST", "/v1/sessions", { json: {}, headers: { "idempotency-key": "s1" } });
  const [first, again] = [await open(), await open()];
  expect([first.status, again.status, again.body["id"]]).toEqual([201, 200, first.body["id"]]);
  const replayed = [first, again].map(({ headers }) => headers.get("idempotency-replayed"));
  expect(replayed).toEqual([null, "true"]);
});

test("a session may have lower limits than the server, never higher ones", async () => {
  const { memoryBytes } = runtime.limits;
  expect(await openSession({ limits: { memoryBytes: memoryBytes / 2 } })).toMatch(/^s-/);
  const { status, body } = await ask("POST", "/v1/sessions", { json: { limits: { memoryBytes: memoryBytes + 1 } } });
  expect({ status, ...body }).toMatchObject({
    status: 422,
    detail: `Field 'limits.memoryBytes' is wrong: this server allows ${memoryBytes} at most`,
  });
});

test("a session that is opened again under its name is another one: ids and keys of the first keep their meaning", async () => {
  const again = { "idempotency-key": "same-name" };
  const executeIn = (code: string, headers = {}) =>
    ask("POST", "/v1/sessions/reopened/execute", { json: { code }, headers });
  await openSession({ id: "reopened" });
  const first = await executeIn("print('first')", again);
  await ask("DELETE", "/v1/sessions/reopened");
  await openSession({ id: "reopened" });
  const other = await executeIn("print('other')");
  expect(other.body).toMatchObject({ stdout: "other\n", executionCount: 1 });
  expect(other.body["executionId"]).not.toBe(first.body["executionId"]);
  const { body } = await ask("GET", `/v1/executions/${first.headers.get("execution-id")}`);
  expect(body).toMatchObject({ result: { stdout: "first\n" } });
  const retried = await executeIn("print('first')", again);
  expect(retried.headers.get("idempotency-replayed")).toBe("true");
  expect(retried.body).toEqual(first.body);
});
