import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { countProcesses, findProcesses, uniqueSleep } from "../processes.ts";
import { COMMAND, rlm, shell, start, type Program } from "../program.ts";
import { remove } from "../../remove.ts";
import { TestTerminal } from "../terminal.ts";
import { TIER } from "../../tier.ts";

const TOKEN = "e2e-token";
const ROUTE = "/process/interpreter/execute";

interface Server extends AsyncDisposable {
  readonly program: Program;
  readonly url: string;
  execute(body: unknown, signal?: AbortSignal): Promise<Response>;
}

async function startServer(
  env: Record<string, string> = { RLM_TOKEN: TOKEN },
  flags: readonly string[] = [],
): Promise<Server> {
  const program = start(["serve", "--port", "0", "--log-level", "error", ...flags], { env });
  const [, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
  return {
    program,
    url,
    execute: (body, signal) =>
      fetch(url + ROUTE, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/** Starts a child that the test can find, and runs for ever. */
function codeWithChild(marker: string): string {
  return `import subprocess\nsubprocess.run(["sleep", "${marker}"])`;
}

describe("a running server", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("executes code", async () => {
    const response = await server.execute({ code: "import os; print(os.environ['A']); 6*7", envs: { A: "x" } });
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.json()).toMatchObject({ status: "ok", stdout: "x\n", value: { "text/plain": "42" } });
  });

  test("checks token, host and origin", async () => {
    const statuses = await Promise.all([
      status(server, {}),
      status(server, { authorization: "Bearer wrong" }),
      status(server, { authorization: `Bearer ${TOKEN}`, host: "evil.example" }),
      status(server, { authorization: `Bearer ${TOKEN}`, origin: "http://evil.example" }),
      status(server, { authorization: `Bearer ${TOKEN}`, host: "localhost:1" }),
      status(server, { authorization: `Bearer ${TOKEN}`, host: "no such host" }),
    ]);
    expect(statuses).toEqual([401, 401, 403, 403, 422, 400]);
  });

  test("refuses a body by its Content-Length before it arrives", async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-length": String(64 * 1024 * 1024 + 1) };
    expect(await status(server, headers, undefined)).toBe(413);
  });

  test("refuses a body that turns out to be too large", async () => {
    const piece = Buffer.alloc(1024 * 1024, 32);
    const headers = { authorization: `Bearer ${TOKEN}`, "transfer-encoding": "chunked" };
    expect(
      await status(
        server,
        headers,
        Array.from({ length: 65 }, () => piece),
      ),
    ).toBe(413);
  });

  test("a client that disconnects stops its code and its processes", async () => {
    const marker = uniqueSleep();
    const client = new AbortController();
    const answer = server.execute({ code: codeWithChild(marker), timeout: 600 }, client.signal);
    await expect.poll(() => countProcesses(marker)).toBe(1);
    client.abort();
    await expect(answer).rejects.toThrow("abort");
    await expect.poll(() => countProcesses(marker)).toBe(0);
    expect(server.program.text("stderr")).toBe("");
  });

  test("silent clients do not delay others", async () => {
    const port = Number(new URL(server.url).port);
    const silent = Array.from({ length: 20 }, () => connect(port, "127.0.0.1").on("error", () => {}));
    for (const socket of silent) socket.write(`POST ${ROUTE} HTTP/1.1\r\nHost: localhost\r\n`);
    expect((await server.execute({ code: "1" })).status).toBe(200);
    for (const socket of silent) socket.destroy();
  });

  test("concurrent requests each get their own response", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, number) => (await server.execute({ code: `print(${number})` })).json()),
    );
    expect(answers.map((answer) => (answer as { stdout: string }).stdout)).toEqual(
      answers.map((_, number) => `${number}\n`),
    );
  });

  test("a taken port is reported with the fix", async () => {
    const { port } = new URL(server.url);
    expect(await rlm(["serve", "--port", port])).toEqual({
      code: 70,
      stdout: "",
      stderr: `rlm: cannot listen on 127.0.0.1 port ${port}: it is taken. Use another with --port, or any with --port 0\n`,
    });
  });
});

describe("start", () => {
  test("prints a working curl command, and stores the token for the user only", async ({ skip }) => {
    const data = makeDataFolder();
    try {
      await using server = await startServer({ RLM_TOKEN: "", RLM_DATA: data });
      const path = join(data, "server", "token");
      const printed = server.program.text("stdout").trimEnd().split("\n");
      const [, curl = "", sessions = "", browser, environment, ...others] = printed;
      expect(environment?.startsWith(`environment local, sandbox tier ${TIER}, Python 3.`)).toBe(true);
      expect(browser).toBe(`open ${server.url}/ in a browser; every route is at ${server.url}/v1/docs`);
      expect(await (await fetch(server.url)).text()).toContain('<div id="page"></div>');
      const env = `RLM_DATA='${data}' RLM_TOKEN= RLM_URL=`;
      const found = await shell(sessions.replaceAll("node ", `env ${env} node `)).ended;
      expect(found).toEqual({ code: 0, stdout: "demo\n42\n", stderr: "" });
      expect(others).toContain(`token in ${path}`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(curl).toContain(`-H "Authorization: Bearer $(cat '${path}')"`);
      if ((await shell("command -v curl").ended).code !== 0) return skip("curl is not installed");
      expect(JSON.parse((await shell(curl).ended).stdout)).toMatchObject({ status: "ok", stdout: "42\n" });
    } finally {
      remove(data);
    }
  });

  test("says what a weaker tier does not stop, and how to get tier A", async () => {
    const data = makeDataFolder();
    try {
      await using server = await startServer({ RLM_TOKEN: "", RLM_DATA: data, RLM_SANDBOX_TIER: "C" });
      const [, , , , environment, gaps, fix] = server.program.text("stdout").trimEnd().split("\n");
      expect(environment).toMatch(/^environment local, sandbox tier C, /);
      expect(gaps).toMatch(/^tier C is weaker than A: Code sees /);
      expect(fix).toMatch(/^for tier A: /);
    } finally {
      remove(data);
    }
  });

  test.each([
    ["a token of its own", ""],
    ["RLM_TOKEN", "planted-token"],
  ])("with %s: it is not in what is printed or logged anywhere but on a terminal", async (_, given) => {
    const data = makeDataFolder();
    try {
      const env = { RLM_TOKEN: given, RLM_DATA: data };
      const log = join(data, "log");
      await using server = await startServer(env, ["--log-level", "debug"]);
      await using logging = await startServer(env, ["--log-level", "debug", "--log-file", log]);
      await using mcp = start(["mcp-serve", "--http", "--port", "0"], { env });
      await mcp.until(/^token .*\n/m);
      const token = given || readFileSync(join(data, "server", "token"), "utf8").trim();
      const headers = { authorization: `Bearer ${token}` };
      for (const { url } of [server, logging]) expect((await fetch(`${url}/v1/version`, { headers })).status).toBe(200);
      expect(server.program.text("stdout")).toContain(given === "" ? "token in /" : 'Bearer $RLM_TOKEN"');
      await Promise.all([server.program, logging.program, mcp].map((program) => program[Symbol.asyncDispose]()));
      const printed = [server.program, logging.program, mcp].map((program) => [
        program.text("stdout"),
        program.text("stderr"),
      ]);
      expect([...printed.flat(), readFileSync(log, "utf8")].filter((text) => text.includes(token))).toEqual([]);
    } finally {
      remove(data);
    }
  });

  test("on a terminal the command has the token", async () => {
    const data = makeDataFolder();
    try {
      const env = { RLM_TOKEN: "planted-token", RLM_DATA: data };
      await using terminal = new TestTerminal(["serve", "--port", "0"], { env, columns: 200 });
      const screen = await terminal.until(/^token .*$/m);
      expect(screen).toMatch(
        /^listening \S+\n\nTry one of these:\n\ncurl .*\n.* sessions open .*\nopen .*\n\nenvironment /m,
      );
      expect(screen).toContain("-H 'Authorization: Bearer planted-token' -d");
      expect(screen).toMatch(/^open http:\/\/127\.0\.0\.1:\d+\/#token=planted-token in a browser;/m);
      expect(screen).not.toContain("kind=sandbox");
    } finally {
      remove(data);
    }
  });

  test("another address must be allowed", async () => {
    const { code, stderr } = await rlm(["serve", "--host", "0.0.0.0"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^rlm: --host 0\.0\.0\.0 .*--allow-host\n$/),
    });
  });

  test("without a sandbox it says why and ends", async () => {
    const env = { RLM_PYTHON: "/nowhere/python", RLM_TOKEN: TOKEN };
    const { code, stdout, stderr } = await rlm(["serve", "--port", "0"], { env });
    expect({ code, stdout, lines: stderr.split("\n").length }).toEqual({ code: 70, stdout: "", lines: 2 });
    expect(stderr).toContain("Install Python");
  });
});

describe("end", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("%s lets running requests finish and accepts no more", async (signal) => {
    await using server = await startServer();
    const marker = uniqueSleep();
    const answer = server.execute({
      code: `import subprocess; subprocess.run(["sleep", "${marker}"]); print("done")`,
    });
    await expect.poll(() => countProcesses(marker)).toBe(1);
    server.program.signal(signal);
    const health = async () => ((await (await fetch(`${server.url}/v1/health`)).json()) as { status: string }).status;
    await expect.poll(health).toBe("ending");
    expect((await fetch(`${server.url}/v1/health/ready`)).status).toBe(503);
    const refused = await server.execute({ code: "1" });
    expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual([
      503,
      "5",
      "close",
    ]);
    for (const pid of findProcesses(marker)) process.kill(pid); // so that the code ends
    expect(await (await answer).json()).toMatchObject({ status: "ok", stdout: "done\n" });
    expect(await server.program.ended).toMatchObject({ code: 0, stderr: "" });
    expect(countProcesses(marker)).toBe(0);
  });

  test("a second signal ends it at once", async () => {
    await using server = await startServer();
    const marker = uniqueSleep();
    const answer = server.execute({ code: codeWithChild(marker), timeout: 600 }).catch(() => {});
    await expect.poll(() => countProcesses(marker)).toBe(1);
    server.program.signal("SIGTERM");
    server.program.signal("SIGINT");
    expect([130, 143]).toContain((await server.program.ended).code); // two signals may arrive in any order
    await answer;
    await expect.poll(() => countProcesses(marker)).toBe(0);
  });

  test("SIGKILL leaves no process behind", async () => {
    await using server = await startServer();
    const marker = uniqueSleep();
    const answer = server.execute({ code: codeWithChild(marker), timeout: 600 }).catch(() => {});
    await expect.poll(() => countProcesses(marker)).toBe(1);
    server.program.signal("SIGKILL");
    await answer;
    await expect.poll(() => countProcesses(marker)).toBe(0);
  });
});

describe("with few open files", () => {
  test("there are fewer sessions, and others still reach it", async () => {
    await using program = shell(`ulimit -n 140; RLM_TOKEN=${TOKEN} exec ${COMMAND} serve --port 0 --log-level error`);
    const [greeting, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
    expect(greeting).toContain("at most 6 sessions and 18 connections: the system's limit on open files is low");
    const headers = { authorization: `Bearer ${TOKEN}` };
    const open = () => fetch(`${url}/v1/sessions`, { method: "POST", headers });
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await open()).status));
    expect(statuses.toSorted((one, other) => one - other)).toEqual([201, 201, 201, 201, 201, 201, 429, 429, 429, 429]);
    const sockets = Array.from({ length: 8 }, () => connect(Number(new URL(url).port), "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const answer = await fetch(url + ROUTE, {
      method: "POST",
      headers,
      body: JSON.stringify({ code: "print(6 * 7)" }),
    });
    expect(answer.status).toBe(429); // another session would exceed the limit
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test("too few are reported at the start, with what to do", async () => {
    const program = shell(`ulimit -n 64; RLM_TOKEN=${TOKEN} exec ${COMMAND} serve --port 0`);
    const { code, stderr } = await program.ended;
    expect([code, stderr]).toEqual([70, expect.stringContaining("Raise it with 'ulimit -n 4096'")]);
  });
});

/** The response to a POST with exactly these headers; the body is sent in pieces, or announced and never sent. */
async function status(
  { url }: Server,
  headers: Record<string, string>,
  pieces: readonly Buffer[] | undefined = [Buffer.from("{}")],
) {
  return new Promise<number | undefined>((resolve, reject) => {
    const request = httpRequest(url + ROUTE, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
      request.destroy();
    });
    request.on("error", reject);
    if (pieces === undefined || "content-length" in headers) request.flushHeaders();
    else {
      for (const piece of pieces) request.write(piece);
      request.end();
    }
  });
}
