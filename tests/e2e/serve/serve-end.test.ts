// How `rlm serve` ends: by a signal, or killed.

import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countProcesses, uniqueSleep } from "../processes.ts";
import { rlm, start, type Program } from "../program.ts";
import { remove } from "../../remove.ts";

const TOKEN = "e2e-token";
const EVENTS = "text/event-stream";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rlm-end-"));
});
afterAll(() => remove(folder));

interface Server extends AsyncDisposable {
  readonly program: Program;
  readonly port: number;
  ask(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Response>;
  openSession(): Promise<string>;
}

function startServer(...flags: string[]): Promise<Server> {
  return startWith({}, ...flags);
}

async function startWith(options: { readonly unread?: "stderr" }, ...flags: string[]): Promise<Server> {
  const env = { RLM_TOKEN: TOKEN };
  const program = start(["serve", "--port", "0", "--log-level", "error", ...flags], { env, ...options });
  const [, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
  const ask: Server["ask"] = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  return {
    program,
    port: Number(new URL(url).port),
    ask,
    openSession: async () => ((await (await ask("POST", "/v1/sessions", {})).json()) as { id: string }).id,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/** Runs for ever, with a child that the test can find. */
function endless(marker: string): string {
  return `import subprocess\nprint("up", flush=True)\nsubprocess.run(["sleep", "${marker}"])`;
}

async function open(port: number, sent: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  socket.write(sent);
  return socket;
}

async function awaitChild(marker: string): Promise<void> {
  await expect.poll(() => countProcesses(marker)).toBe(1);
}

describe("SIGTERM", () => {
  test("without work it ends at once, and closes idle connections", async () => {
    await using server = await startServer("--grace", "600");
    const kept = await open(server.port, "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(kept, "data");
    server.program.signal("SIGTERM");
    expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
    kept.destroy();
  });

  test("code may finish within the grace: it can get input and its result can be fetched on a new connection", async () => {
    await using server = await startServer("--grace", "600");
    const id = await server.openSession();
    const path = `/v1/sessions/${id}/execute`;
    const body = { code: "input()", input: "ask" };
    const begun = await server.ask("POST", path, body, { prefer: "respond-async" });
    const { id: execution } = (await begun.json()) as { id: string };
    server.program.signal("SIGTERM");
    const tryAnother = async () => (await server.ask("POST", path, { code: "1" }, { prefer: "respond-async" })).status;
    await expect.poll(tryAnother).toBe(503);
    const socket = await open(
      server.port,
      `GET /v1/executions/${execution}?waitMs=60000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
    );
    const response = text(socket);
    const answered = async () =>
      (await server.ask("POST", `/v1/executions/${execution}/stdin`, { text: "Ada" })).status;
    await expect.poll(answered).toBe(204);
    expect(await response).toContain(`"text/plain":"'Ada'"`);
    expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("code that continues is interrupted after the grace, and waiting clients are notified", async () => {
    await using server = await startServer("--grace", "0.3");
    const [first, second] = [await server.openSession(), await server.openSession()];
    const markers = [uniqueSleep(), uniqueSleep(), uniqueSleep()];
    const [a = "", b = "", c = ""] = markers;
    const waiting = server.ask("POST", `/v1/sessions/${first}/execute`, { code: endless(a) });
    const following = await server.ask(
      "POST",
      `/v1/sessions/${second}/execute`,
      { code: endless(b) },
      { accept: "text/event-stream" },
    );
    const isolated = server.ask("POST", "/process/interpreter/execute", { code: endless(c) });
    for (const marker of markers) await awaitChild(marker);
    server.program.signal("SIGTERM");
    const interrupted = { status: "interrupted", reason: "cancelled" };
    expect(await (await waiting).json()).toMatchObject(interrupted);
    expect(await (await isolated).json()).toMatchObject(interrupted);
    const events = (await following.text()).split("\n\n").filter((one) => one.startsWith("id:"));
    expect(events.at(-1)).toContain("event: execution-end");
    expect(events.at(-1)).toContain('"status":"interrupted"');
    expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
    for (const marker of markers) expect(countProcesses(marker)).toBe(0);
  });

  test("a shell task is killed after the grace, paused or not, and its followers are notified", async () => {
    await using server = await startServer("--grace", "0.2");
    const [running, paused] = [uniqueSleep(), uniqueSleep()];
    const followed = await server.ask("POST", "/v1/tasks", { command: `sleep ${running}` }, { accept: EVENTS });
    const held = (await (await server.ask("POST", "/v1/tasks", { command: `sleep ${paused}` })).json()) as {
      id: string;
    };
    for (const marker of [running, paused]) await awaitChild(marker);
    expect((await server.ask("POST", `/v1/tasks/${held.id}/pause`)).status).toBe(200);
    server.program.signal("SIGTERM");
    expect(await followed.text()).toMatch(/event: task-end\ndata: .*"status":"cancelled"/);
    expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
    expect([countProcesses(running), countProcesses(paused)]).toEqual([0, 0]);
  });

  test(
    "a reader that never reads, a partial request and a partial body do not delay it",
    { tags: "stress" },
    async () => {
      await using server = await startServer("--grace", "0.1");
      const id = await server.openSession();
      const head = `Host: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`;
      const code = JSON.stringify({ code: "while True: print('x' * 10_000)", timeoutMs: null });
      const never = await open(
        server.port,
        `POST /v1/sessions/${id}/execute HTTP/1.1\r\n${head}Accept: text/event-stream\r\nContent-Length: ${code.length}\r\n\r\n${code}`,
      );
      await once(never, "readable");
      const halves = [
        await open(server.port, `GET /v1/version HTTP/1.1\r\n${head}`),
        await open(server.port, `POST /v1/sessions HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\n{`),
      ];
      server.program.signal("SIGTERM");
      expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
      for (const socket of [never, ...halves]) socket.destroy();
    },
  );

  test("leaves no temporary folder", async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("rlm") && !name.startsWith("rlm-end-"));
    await using server = await startServer("--grace", "0");
    const id = await server.openSession();
    await server.ask("POST", `/v1/sessions/${id}/execute`, { code: "print('x' * 5_000_000)" });
    server.program.signal("SIGTERM");
    expect((await server.program.ended).code).toBe(0);
    const own = new RegExp(`${id}|^rlm-spill`);
    expect(readdirSync(tmpdir()).filter((name) => own.test(name) && !before.includes(name))).toEqual([]);
  });
});

test("SIGKILL while code and a shell task run leaves no process behind", async () => {
  await using server = await startServer();
  const id = await server.openSession();
  const [marker, other] = [uniqueSleep(), uniqueSleep()];
  const answer = server.ask("POST", `/v1/sessions/${id}/execute`, { code: endless(marker) }).catch(() => {});
  await server.ask("POST", "/v1/tasks", { command: `sleep ${other} & sleep 1000; wait`, sessionId: id });
  for (const one of [marker, other]) await awaitChild(one);
  server.program.signal("SIGKILL");
  await answer;
  await expect.poll(() => countProcesses(marker) + countProcesses(other)).toBe(0);
});

describe("the log", () => {
  test("is appended to a file that only its user can read", async () => {
    const path = join(folder, "serve.log");
    for (const time of [1, 2]) {
      await using server = await startServer("--log-level", "info", "--log-file", path);
      await server.ask("GET", "/v1/version?token=planted");
      server.program.signal("SIGTERM");
      expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
      const lines = readFileSync(path, "utf8").trimEnd().split("\n");
      const events = lines.map((line) => (JSON.parse(line) as { event: string }).event);
      expect(events.filter((event) => event === "server-start").length).toBe(time);
      expect(events.at(-1)).toBe("server-end");
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toMatch(/planted|e2e-token/);
  });

  test("an impossible path is reported at once", async () => {
    const { code, stderr } = await rlm(["serve", "--port", "0", "--log-file", folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`cannot write the log to '${folder}': it is a folder`)]);
  });

  test("that is not read delays neither requests nor the exit", { tags: "stress" }, async () => {
    await using server = await startWith({ unread: "stderr" }, "--log-level", "debug");
    const path = `/${"nowhere".repeat(100)}`; // several times the capacity of a pipe
    await Promise.all(Array.from({ length: 400 }, async () => (await server.ask("GET", path)).text()));
    server.program.signal("SIGTERM");
    expect((await server.program.ended).code).toBe(0);
  });
});

test("data that is not HTTP is refused with a problem, and the connection ends", async () => {
  await using server = await startServer();
  const socket = await open(server.port, "NONSENSE\r\n\r\n");
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [\s\S]*application\/problem\+json[\s\S]*"code":"MALFORMED"/);
});
