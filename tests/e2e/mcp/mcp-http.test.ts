// `rlm mcp-serve --http`, the built program, with the real client in both protocol eras.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { countProcesses, uniqueSleep } from "../processes.ts";
import { rlm, start, type Program } from "../program.ts";
import { remove } from "../../remove.ts";
import { TIER } from "../../tier.ts";

const TOKEN = "e2e-token";
const ERAS = ["legacy", "modern"] as const;
const ARGS = ["mcp-serve", "--http", "--port", "0"];
/** Nothing, or one line that this folder cannot be shown, since it has an `.npmrc`. */
const STDERR = TIER === "C" ? /^rlm: sessions do not see .*\n$/ : /^$/;

interface Server extends AsyncDisposable {
  readonly program: Program;
  readonly url: string;
}

async function startServer(env: Record<string, string> = { RLM_TOKEN: TOKEN }): Promise<Server> {
  const program = start(ARGS, { env });
  const [, url = ""] = await program.until(/^listening (http:\S+\/mcp)\ntoken .*\n/);
  return { program, url, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}

async function connect({ url }: Server, era: (typeof ERAS)[number], token = TOKEN): Promise<Client> {
  const mode = era === "modern" ? ({ pin: "2026-07-28" } as const) : "legacy";
  const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

async function call(client: Client, name: string, args: object, options?: object): Promise<string> {
  const { content } = await client.callTool({ name, arguments: { ...args } }, options);
  return (content as { text?: string }[]).map(({ text = "" }) => text).join("\n");
}

describe("a running server", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(ERAS)("keeps variables, sessions and tasks between requests of the %s era", async (era) => {
    const client = await connect(server, era);
    await call(client, "execute_python", { code: `${era} = 41` });
    expect(await call(client, "execute_python", { code: `${era} + 1` })).toContain("42");
    const session = /\bs-[\da-f]{16}\b/.exec(await call(client, "create_repl_session", {}))?.[0];
    expect(session, "an id that nobody guesses").toBeDefined();
    expect(await call(client, "execute_repl", { session_id: session, code: "6*7" })).toContain("42");
    expect(await call(client, "shell", { command: `echo ${era} > note; cat note` })).toContain(era);
    await client.close();
  });

  test("two clients share named sessions and tasks", async () => {
    const [one, other] = await Promise.all([connect(server, "legacy"), connect(server, "modern")]);
    await call(one, "create_repl_session", { session_id: "shared" });
    await call(one, "execute_repl", { session_id: "shared", code: "x = 1" });
    await call(other, "execute_repl", { session_id: "shared", code: "x += 1" });
    expect(await call(one, "execute_repl", { session_id: "shared", code: "x" })).toContain("2");
    await Promise.all([one.close(), other.close()]);
  });

  test.each(ERAS)("a client of the %s era that cancels also stops its process", async (era) => {
    const client = await connect(server, era);
    const marker = uniqueSleep();
    const caller = new AbortController();
    const answer = call(client, "shell", { command: `sleep ${marker}` }, { signal: caller.signal });
    await expect.poll(() => countProcesses(marker)).toBe(1);
    caller.abort(new Error("given up"));
    await expect(answer).rejects.toThrow("given up");
    await expect.poll(() => countProcesses(marker)).toBe(0);
    await client.close();
  });

  test("requests without the token are refused", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const { status } = await fetch(server.url, { method: "POST", body });
    expect(status).toBe(401);
    await expect(connect(server, "modern", "wrong")).rejects.toThrow(/401|Unauthorized/);
  });

  test("prints only its address, whatever clients do", () => {
    expect(server.program.text("stdout").split("\n").length).toBe(3);
    expect(server.program.text("stderr")).toMatch(STDERR);
  });

  test("a taken port is reported with the fix", async () => {
    const { port } = new URL(server.url);
    expect(await rlm(["mcp-serve", "--http", "--port", port])).toEqual({
      code: 70,
      stdout: "",
      stderr: `rlm: cannot listen on 127.0.0.1 port ${port}: it is taken. Use another with --port, or any with --port 0\n`,
    });
  });
});

describe("start", () => {
  test("creates a token, stores it for the user only, and says where", async () => {
    const data = makeDataFolder();
    try {
      await using server = await startServer({ RLM_TOKEN: "", RLM_DATA: data });
      const path = join(data, "server", "token");
      expect(server.program.text("stdout")).toBe(`listening ${server.url}\ntoken in ${path}\n`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const client = await connect(server, "modern", readFileSync(path, "utf8").trim());
      expect(await call(client, "execute_python", { code: "6*7" })).toContain("42");
      await client.close();
      server.program.signal("SIGTERM"); // so that nothing writes there any more
      await server.program.ended;
    } finally {
      remove(data);
    }
  });

  test.each([
    [["--http", "--host", "0.0.0.0"], /^rlm: --host 0\.0\.0\.0 .*--allow-host\n$/],
    [["--port", "1"], /^rlm: --port .*--http\n$/],
    [["--host", "::1"], /^rlm: --host .*--http\n$/],
    [["--allow-host", "box.example"], /^rlm: --allow-host .*--http\n$/],
  ])("%j is wrong usage", async (args, message) => {
    const { code, stderr } = await rlm(["mcp-serve", ...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });
});

describe("end", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("%s stops it and everything that runs", async (signal) => {
    await using server = await startServer();
    const client = await connect(server, "modern");
    const [running, task] = [uniqueSleep(), uniqueSleep()];
    await call(client, "shell", { command: `sleep ${task} & disown` });
    const answer = call(client, "execute_python", { code: `import os; os.system("sleep ${running}")` }).catch(String);
    await expect.poll(() => [running, task].map(countProcesses)).toEqual([1, 1]);
    server.program.signal(signal);
    expect(await server.program.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(STDERR) });
    expect([running, task].map(countProcesses)).toEqual([0, 0]);
    await answer;
  });

  test("SIGKILL leaves no process behind", async () => {
    await using server = await startServer();
    const client = await connect(server, "modern");
    const marker = uniqueSleep();
    const answer = call(client, "shell", { command: `sleep ${marker}` }).catch(String);
    await expect.poll(() => countProcesses(marker)).toBe(1);
    server.program.signal("SIGKILL");
    await answer;
    await expect.poll(() => countProcesses(marker)).toBe(0);
  });
});
