import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, scripted } from "../../rlm/scripting.ts";
import { openTestServer, readEvents, type Ask } from "./request.ts";

let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random", limits: { tasks: 10 } });
  ({ ask } = openTestServer(runtime));
});
afterAll(() => runtime.close());

async function start(command: string, options: object = {}): Promise<string> {
  const { status, body, headers } = await ask("POST", "/v1/tasks", { json: { command, ...options } });
  expect(status).toBe(201);
  expect(headers.get("location")).toBe(`/v1/tasks/${String(body["id"])}`);
  return `/v1/tasks/${String(body["id"])}`;
}

describe("a command", () => {
  test("runs in the files of its session, and gives its result when the request waits", async () => {
    const { body: session } = await ask("POST", "/v1/sessions");
    await ask("POST", `/v1/sessions/${String(session["id"])}/execute`, {
      json: { code: "open('words', 'w').write('b\\na\\n')" },
    });
    const { status, body } = await ask("POST", "/v1/tasks", {
      json: {
        command: 'sort words; echo "$NAME" >&2; exit 3',
        sessionId: session["id"],
        env: { NAME: "Ada" },
        waitMs: 20_000,
      },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^t-[0-9a-f]{16}$/),
      kind: "shell",
      sessionId: session["id"],
      status: "completed",
      exitCode: 3,
      result: { stdout: "a\nb\n", stderr: "Ada\n", truncated: null, exitCode: 3 },
    });
  });

  test("runs in the session `default` when it names none", async () => {
    const path = await start("echo here");
    const { body } = await ask("GET", `${path}?waitMs=20000`);
    expect(body).toMatchObject({ sessionId: "default", result: { stdout: "here\n" } });
    expect((await ask("GET", "/v1/sessions/default")).status).toBe(200);
  });

  test("can be read by offset while it runs, written to, and cancelled", async () => {
    const path = await start("read a; echo got $a; cat; sleep 1000", { stdin: "open" });
    expect((await ask("POST", `${path}/stdin`, { json: { text: "one\n" } })).status).toBe(204);
    const raw = { "content-type": "application/octet-stream" };
    const bytes = new Uint8Array([0xff, 0x00, 0x0a]);
    expect((await ask("POST", `${path}/stdin?close=true`, { body: bytes, headers: raw })).status).toBe(204);
    await expect.poll(async () => (await ask("GET", path)).body["outputBytes"]).toBe(11);
    const { response, headers } = await ask("GET", `${path}/output?offset=4`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat([Buffer.from("one\n"), bytes]));
    expect(headers.get("next-offset")).toBe("11");
    expect(await ask("POST", `${path}/stdin`, { json: { text: "x" } })).toMatchObject({
      status: 409,
      body: { code: "TASK_STATE" },
    });
    const cancelled = await ask("POST", `${path}/cancel`);
    expect(cancelled.body).toMatchObject({ status: "cancelled", result: { status: "cancelled" } });
  });

  test("is paused and resumed", async () => {
    const path = await start("sleep 1000");
    expect((await ask("POST", `${path}/pause`)).body).toMatchObject({ status: "paused" });
    expect((await ask("GET", "/v1/tasks?status=paused")).body["tasks"]).toHaveLength(1);
    expect((await ask("POST", `${path}/resume`)).body).toMatchObject({ status: "running" });
    await ask("POST", `${path}/cancel`);
    expect(await ask("POST", `${path}/pause`)).toMatchObject({ status: 409, body: { code: "TASK_STATE" } });
  });

  test("has events with cursors; a reader can resume at any of them", async () => {
    const { response, headers } = await ask("POST", "/v1/tasks", {
      json: { command: "echo a; echo b >&2" },
      headers: { accept: "text/event-stream" },
    });
    const events = await readEvents(response);
    expect(events.map(({ type }) => type)).toEqual(["task-start", "output-delta", "output-delta", "task-end"]);
    for (const [index, { id }] of events.entries()) {
      const again = await ask("GET", `${headers.get("location")}/events`, { headers: { "last-event-id": id } });
      expect(await readEvents(again.response)).toEqual(events.slice(index + 1));
    }
    expect(await ask("GET", `${headers.get("location")}/events?after=nowhere`)).toMatchObject({ status: 422 });
  });

  test("starts once per key", async () => {
    const post = (command: string) =>
      ask("POST", "/v1/tasks", { json: { command, waitMs: 20_000 }, headers: { "idempotency-key": "t1" } });
    const answers = await Promise.all([post("echo x >> once; cat once"), post("echo x >> once; cat once")]);
    expect(answers.map(({ body }) => (body["result"] as { stdout: string }).stdout)).toEqual(["x\n", "x\n"]);
    expect(answers.map(({ status }) => status)).toEqual([201, 200]);
    expect(await post("echo y")).toMatchObject({ status: 422, body: { code: "KEY_REUSED" } });
  });

  test("is refused when it is invalid", async () => {
    const statuses = await Promise.all(
      [
        { command: " " },
        { command: "a\0b" },
        { command: "true", cwd: "a\0b" },
        { command: "true", stdin: "pipe" },
        { command: "true", sessionid: "x" },
        { command: "true", sessionId: "nobody" },
        { command: "true", env: { "A=B": "c" } },
      ].map(async (json) => (await ask("POST", "/v1/tasks", { json })).status),
    );
    expect(statuses).toEqual([422, 422, 422, 422, 422, 404, 422]);
    expect(await ask("GET", "/v1/tasks/nope")).toMatchObject({ status: 404, body: { code: "TASK_NOT_FOUND" } });
  });

  test("is refused while too many are running", async () => {
    const paths = [];
    for (let number = 0; number < 10; number += 1) paths.push(await start("sleep 1000"));
    const refused = await ask("POST", "/v1/tasks", { json: { command: "true" } });
    expect(refused).toMatchObject({ status: 429, body: { code: "LIMIT_EXCEEDED" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    await Promise.all(paths.map((path) => ask("POST", `${path}/cancel`)));
    await start("true", { waitMs: 20_000 });
  });

  test("that never reads its input does not block the writer", { tags: "stress" }, async () => {
    const path = await start("sleep 1000", { stdin: "open" });
    const text = "x".repeat(1024 * 1024);
    expect((await ask("POST", `${path}/stdin`, { json: { text } })).status).toBe(202);
    await ask("POST", `${path}/cancel`);
  });
});

describe("other kinds of tasks", () => {
  test("an execution that became a task has its own events, and takes no input", async () => {
    const session = await runtime.openSession();
    const adopted = runtime.tasks.adopt(session.execute("print('a'); 7"));
    const path = `/v1/tasks/${adopted.id}`;
    expect((await ask("GET", `${path}?waitMs=20000`)).body).toMatchObject({ kind: "execution", status: "completed" });
    const { response } = await ask("GET", `${path}/events`);
    const events = await readEvents(response);
    expect(events.map(({ type }) => type)).toEqual(["execution-start", "output-delta", "execution-end"]);
    const rest = await ask("GET", `${path}/events?after=${events[0]?.id}`);
    expect(await readEvents(rest.response)).toEqual(events.slice(1));
    expect(await ask("POST", `${path}/stdin`, { json: { text: "x" } })).toMatchObject({ status: 409 });
  });

  test("a run that became a task has the events of the run", async () => {
    const run = scripted(runtime, () => code("FINAL(42)")).run({ query: "?" });
    const path = `/v1/tasks/${runtime.tasks.follow(run).id}`;
    const { body } = await ask("GET", `${path}?waitMs=20000`);
    expect(body).toMatchObject({ kind: "run", sessionId: null, status: "completed" });
    const events = await readEvents((await ask("GET", `${path}/events`)).response);
    expect(events.at(0)?.type).toBe("run-start");
    expect(events.at(-1)?.data).toMatchObject({ type: "run-end", result: { answer: "42" } });
    const rest = await ask("GET", `${path}/events?after=${events.at(-2)?.id}`);
    expect(await readEvents(rest.response)).toEqual(events.slice(-1));
    expect((await ask("GET", `${path}/events?after=x`)).status).toBe(422);
  });
});
