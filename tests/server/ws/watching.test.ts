import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { openServer, TOKEN, type Message, type TestServer } from "./connect.ts";

let runtime: Runtime;
let server: TestServer;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  server = await openServer(runtime);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await runtime.close();
  expect(server.unexpected).toEqual([]);
});

const pathOf = ({ id }: Session): string => `/v1/sessions/${id}/ws`;

/** Resolves when the session has expired. */
async function idled(session: Session): Promise<void> {
  const why = await new Promise<string>((resolve) => {
    session.subscribe((event) => event.type === "session-end" && resolve(event.why));
  });
  expect(why).toContain("idle");
}

describe("a watcher", () => {
  test("gets a hello, executes code, and gets all events with cursors", async () => {
    await using session = await runtime.openSession();
    await using client = await server.connect(pathOf(session));
    expect(await client.next("hello")).toEqual({
      type: "hello",
      protocol: 1,
      sessionId: session.id,
      state: "idle",
      epoch: 1,
      running: null,
    });
    client.send({ type: "execute", id: 7, code: "print('a', flush=True)\n6*7" });
    await client.next("execution-end");
    const executionId = `${session.id}.1`;
    expect(client.messages.slice(1)).toEqual([
      { type: "reply", id: 7, ok: true, executionId },
      expect.objectContaining({ type: "execution-start", executionId, executionCount: 1, cursor: "0.0" }),
      expect.objectContaining({ type: "output-delta", executionId, stream: "stdout", text: "a\n", cursor: "0.2" }),
      expect.objectContaining({ type: "execution-end", executionId, cursor: "end" }),
    ]);
    expect(client.messages.at(-1)).toMatchObject({ result: { status: "ok", value: { "text/plain": "42" } } });
  });

  test("gets the same events as all others, whoever executes, interrupts or answers", async () => {
    await using session = await runtime.openSession();
    await using first = await server.connect(pathOf(session));
    await using second = await server.connect(pathOf(session));
    const { executionId } = await first.ask({ type: "execute", code: "print(input('who? '))" });
    expect(await second.next("input-start")).toMatchObject({ executionId, prompt: "who? ", password: false });
    expect(await second.ask({ type: "stdin", executionId, text: "Ada" })).toMatchObject({ ok: true });
    expect(await first.next("execution-end")).toMatchObject({ result: { stdout: "who? Ada\n" } });
    await second.next("execution-end");
    first.send({ type: "execute", code: "import time; time.sleep(600)" });
    await second.next("execution-start");
    expect(await second.ask({ type: "interrupt", id: "i" })).toMatchObject({ id: "i", hasEnded: true, state: "kept" });
    const events = (messages: readonly Message[]): readonly Message[] => messages.filter((message) => "seq" in message);
    await first.next("execution-end");
    expect(events(first.messages)).toEqual(events(second.messages));
  });

  test("gets events outside of executions, and the end of the session", async () => {
    const session = await runtime.openSession();
    await using client = await server.connect(pathOf(session));
    await client.execute(
      "import os, time\nif os.fork() == 0:\n    while not os.path.exists('go'): time.sleep(0.01)\n    print('later', flush=True); os._exit(0)",
    );
    await session.files.write("go", "");
    expect(await client.next("background-delta")).toMatchObject({ text: "later\n" });
    await session.reset();
    expect(await client.next("session-reset")).toMatchObject({ why: "reset", epoch: 2 });
    await session.close();
    expect(await client.next("session-end")).toMatchObject({ why: "it was closed" });
    expect(await client.closed).toEqual([4404, "the session has ended"]);
  });

  test("keeps its session from expiring, until it has vanished", { tags: "stress" }, async () => {
    await using own = await openServer(runtime, { heartbeatMs: 1500 });
    const watched = await runtime.openSession({ idleTimeoutMs: 200 });
    const hold = watched.hold();
    const headers = { authorization: `Bearer ${TOKEN}` };
    await using client = await own.connect(pathOf(watched), { headers, autoPong: false });
    hold[Symbol.dispose]();
    await idled(await runtime.openSession({ idleTimeoutMs: 400 }));
    expect(watched.state).toBe("idle");
    await idled(watched);
    expect(await client.closed).toEqual([1006, ""]);
  });

  test("learns of an execution that never started, while another one runs", async () => {
    await using session = await runtime.openSession();
    await using client = await server.connect(pathOf(session));
    const first = await client.ask({ type: "execute", code: "input(); print('whole')" });
    await client.next("input-start");
    const second = await client.ask({ type: "execute", code: "1" });
    expect(await client.ask({ type: "cancel", executionId: second["executionId"] })).toMatchObject({ ok: true });
    const ends = () => client.messages.filter(({ type }) => type === "execution-end");
    await expect.poll(ends).toMatchObject([{ executionId: second["executionId"], result: { status: "interrupted" } }]);
    client.send({ type: "stdin", executionId: first["executionId"], text: "" });
    await expect.poll(() => ends().length).toBe(2);
    expect(client.printed()).toBe("whole\n");
  });

  test("gets the variables afterwards if it requests them", async () => {
    await using session = await runtime.openSession();
    await using client = await server.connect(pathOf(session));
    const { executionId } = await client.ask({ type: "execute", code: "x = 1", variables: true });
    expect(await client.next("variables")).toMatchObject({ executionId, total: 1, variables: [{ name: "x" }] });
  });

  test("that retries with a key runs the code once, over HTTP, too", async () => {
    await using session = await runtime.openSession();
    await using client = await server.connect(pathOf(session));
    const execute = { type: "execute", code: "print('once')", key: "k1", input: "none" };
    const first = await client.ask(execute);
    const again = await client.ask(execute);
    expect(again).toEqual({ ...first, replayed: true });
    const body = { code: "print('once')" };
    const response = await server.post(`/v1/sessions/${session.id}/execute`, body, { "idempotency-key": "k1" });
    expect(response.headers.get("idempotency-replayed")).toBe("true");
    expect(await response.json()).toMatchObject({ executionId: first["executionId"], executionCount: 1 });
    expect(await client.ask({ ...execute, code: "2" })).toMatchObject({ ok: false, problem: { code: "KEY_REUSED" } });
  });
});

describe("an execution that is followed", () => {
  test("resumes after a lost connection from any cursor, with no event lost or repeated", async () => {
    await using session = await runtime.openSession();
    const first = await server.connect(pathOf(session));
    const { executionId } = await first.ask({ type: "execute", code: "print('é1'); input(); print('2'); input(); 3" });
    await first.next("input-start");
    const heard = first.messages.filter(({ type }) => type.startsWith("execution-") || type.startsWith("output-"));
    const cursor = heard.at(-1)?.["cursor"];
    await first[Symbol.asyncDispose]();

    await using second = await server.connect(pathOf(session));
    expect(await second.next("hello")).toMatchObject({ running: executionId, state: "running" });
    // Not sent live: it started before.
    expect(await second.ask({ type: "stdin", executionId, text: "" })).toMatchObject({ ok: true });
    await using third = await server.connect(pathOf(session));
    expect(await second.ask({ type: "follow", id: "f", executionId, after: cursor })).toEqual({
      type: "reply",
      id: "f",
      ok: true,
      executionId,
    });
    await second.next("input-end");
    await second.next("input-start");
    second.send({ type: "stdin", executionId, text: "" });
    await second.next("follow-end");
    expect(second.messages.filter((message) => "seq" in message).map(({ type }) => type)).toEqual([
      "input-start",
      "input-end",
      "output-delta",
      "input-start",
      "input-end",
      "execution-end",
    ]);
    expect(second.printed()).toBe("2\n");
    expect(third.messages.filter(({ type }) => type !== "hello")).toEqual([]);
    await third.ask({ type: "follow", executionId });
    await third.next("follow-end");
    expect(third.printed()).toBe("é1\n2\n");
    expect(third.messages.at(-2)).toMatchObject({
      type: "execution-end",
      cursor: "end",
      result: { value: { "text/plain": "3" } },
    });
  });

  test("is refused if it is unknown, of another session, or the cursor is invalid", async () => {
    await using session = await runtime.openSession();
    await using other = await runtime.openSession();
    await using client = await server.connect(pathOf(session));
    await using stranger = await server.connect(pathOf(other));
    const { executionId } = await client.ask({ type: "execute", code: "input()" });
    await client.next("input-start");
    const follow = { type: "follow", executionId };
    for (const type of ["follow", "cancel"]) {
      expect(await stranger.ask({ type, executionId })).toMatchObject({ problem: { code: "EXECUTION_NOT_FOUND" } });
    }
    expect(await stranger.ask({ type: "stdin", executionId, text: "" })).toMatchObject({ problem: { status: 404 } });
    expect(await client.ask({ ...follow, executionId: "none" })).toMatchObject({ problem: { status: 404 } });
    expect(await client.ask({ ...follow, after: "x" })).toMatchObject({ problem: { status: 422, code: "INVALID" } });
    expect(await client.ask(follow)).toMatchObject({ ok: true });
    expect(await client.ask(follow)).toMatchObject({ problem: { status: 409, code: "FOLLOWED" } });
    await client.ask({ type: "stdin", executionId, text: "" });
    await client.next("follow-end");
    expect(await client.ask({ type: "stdin", executionId, text: "" })).toMatchObject({
      problem: { code: "NOT_WAITING" },
    });
  });
});

describe("a watcher that falls behind", () => {
  test("gets all executions completely and in order, then live events again", async () => {
    await using session = await runtime.openSession();
    await using client = await server.connect(pathOf(session));
    await client.next("hello");
    client.webSocket.pause();
    for (let count = 0; count < 5; count += 1) {
      (await session.execute(`print(${count}, 'x' * 5_000_000)`).result).unwrap();
    }
    client.webSocket.resume();
    for (let count = 0; count < 5; count += 1) await client.next("execution-end");
    const seqs = client.messages.filter(({ type }) => type.startsWith("execution-")).map(({ seq }) => seq as number);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    const whole = [0, 1, 2, 3, 4].map((count) => `${count} ${"x".repeat(5_000_000)}\n`).join("");
    expect(client.printed() === whole).toBe(true);
    expect(await client.execute("6*7")).toMatchObject({ value: { "text/plain": "42" } });
    expect(client.messages.filter(({ type }) => type === "lagged")).toEqual([]);
  });

  test("learns how much it missed of what cannot be replayed", async () => {
    await using session = await runtime.openSession();
    await using client = await server.connect(pathOf(session));
    await client.next("hello");
    client.webSocket.pause();
    const code = [
      "import os, threading, time",
      "def work():",
      "    while not os.path.exists('go'): time.sleep(0.01)",
      "    for _ in range(300): print('x' * 100_000, flush=True)",
      "    os.mkdir('printed')",
      "threading.Thread(target=work).start()",
    ];
    (await session.execute(code.join("\n")).result).unwrap();
    await session.files.write("go", "");
    await vi.waitFor(async () => expect(await session.files.exists("printed")).toBe(true), { timeout: 120_000 });
    client.webSocket.resume();
    expect(await client.next("lagged")).toMatchObject({ omitted: expect.any(Number) as number, executions: [] });
    expect(await client.execute("6*7")).toMatchObject({ value: { "text/plain": "42" } });
  });
});

describe("during shutdown", () => {
  test("all are notified; idle ones are closed at once, others after the end of the execution", async () => {
    const draining = new AbortController();
    await using ending = await openServer(runtime, { draining: draining.signal });
    await using idle = await runtime.openSession();
    await using busy = await runtime.openSession();
    await using first = await ending.connect(pathOf(idle));
    await using second = await ending.connect(pathOf(busy));
    const { executionId } = await second.ask({ type: "execute", code: "input(); print('done')" });
    await second.next("input-start");
    draining.abort();
    expect(await first.next("server-end")).toEqual({ type: "server-end", why: "the server is about to end" });
    expect(await first.closed).toEqual([1001, "the server is about to end"]);
    await second.next("server-end");
    expect(await second.ask({ type: "execute", code: "1" })).toMatchObject({
      problem: { status: 503, code: "ENDING" },
    });
    await second.ask({ type: "stdin", executionId, text: "" });
    expect(await second.next("execution-end")).toMatchObject({ executionId, result: { stdout: "done\n" } });
    expect((await second.closed)[0]).toBe(1001);
  });

  test("those that never finish are closed when the time is over", async () => {
    await using session = await runtime.openSession();
    const ending = await openServer(runtime);
    await using client = await ending.connect(pathOf(session));
    await using deaf = await ending.connect(pathOf(session));
    await client.ask({ type: "execute", code: "input()" });
    deaf.webSocket.pause();
    await ending.listening.close(50);
    expect((await client.closed)[0]).toBe(1001);
    deaf.webSocket.resume();
    await deaf.closed;
  });
});
