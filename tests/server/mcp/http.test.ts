// Streamable HTTP with the real client in both protocol eras, and by hand for what a client hides.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Runtime } from "../../internals.ts";
import type { HTTPListener } from "../../../src/server/net/listen.ts";
import { serveMCPOverHTTP } from "../../../src/server/mcp-http.ts";
import { countProcesses, uniqueSleep } from "../../e2e/processes.ts";
import { openTestRuntime } from "../../open.ts";

const token = "secret";
const ERAS = ["legacy", "modern"] as const;
type Era = (typeof ERAS)[number];
const MODERN = "2026-07-28";

let runtime: Runtime;
let server: HTTPListener;
const unexpected: unknown[] = [];
beforeAll(async () => {
  runtime = await openTestRuntime();
  server = await serve(createFactory(runtime));
});
afterAll(async () => {
  await server.close(0);
  await runtime.close();
});

function serve(factory: McpServerFactory): Promise<HTTPListener> {
  return serveMCPOverHTTP(factory, {
    host: "127.0.0.1",
    port: 0,
    token,
    onUnexpected: (error) => void unexpected.push(error),
  });
}

/** A server with one tool, which runs code in a session that outlives the request. */
function createFactory(owner: Runtime): McpServerFactory {
  return () => {
    const mcp = new McpServer({ name: "test", version: "1" });
    const inputSchema = z.object({ code: z.string(), session: z.string() });
    mcp.registerTool("run", { inputSchema }, async ({ code, session: id }, { mcpReq }) => {
      const known = owner.sessions.list().find((session) => session.id === id);
      const session = known ?? (await owner.openSession({ id }));
      if (mcpReq._meta?.progressToken !== undefined) {
        const { progressToken } = mcpReq._meta;
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
      }
      const result = await session.execute(code, { signal: mcpReq.signal, timeoutMs: 600_000 }).result;
      return { content: [{ type: "text", text: result.value?.["text/plain"] ?? result.status }] };
    });
    return mcp;
  };
}

async function connect(era: Era, headers: Record<string, string> = {}, url = server.url): Promise<Client> {
  const client = new Client(
    { name: "tests", version: "1" },
    { versionNegotiation: { mode: era === "modern" ? { pin: MODERN } : "legacy" } },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

async function run(client: Client, session: string, code: string, options?: object): Promise<unknown> {
  const { content } = await client.callTool({ name: "run", arguments: { code, session } }, options);
  return (content as { text: string }[])[0]?.text;
}

/** Starts a child that can be recognised, and waits for it for ever. */
function codeWithChild(marker: string): string {
  return `import subprocess\nsubprocess.run(["sleep", "${marker}"])`;
}

describe.each(ERAS)("a client of the %s era", (era) => {
  test("lists tools, and finds its session in the next request", async () => {
    await using client = disposable(await connect(era));
    expect(client.getProtocolEra()).toBe(era);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["run"]);
    await run(client, `state-${era}`, "x = 41");
    expect(await run(client, `state-${era}`, "x + 1")).toBe("42");
  });

  test("gets progress while the call runs", async () => {
    await using client = disposable(await connect(era));
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void heard.push(progress);
    expect(await run(client, `progress-${era}`, "1", { onprogress })).toBe("1");
    expect(heard).toEqual([1]);
  });

  test("that cancels a call ends the process it started", async () => {
    await using client = disposable(await connect(era));
    const marker = uniqueSleep();
    const caller = new AbortController();
    const answer = run(client, `cancel-${era}`, codeWithChild(marker), { signal: caller.signal });
    await expect.poll(() => countProcesses(marker)).toBe(1);
    caller.abort(new Error("given up"));
    await expect(answer).rejects.toThrow("given up");
    await expect.poll(() => countProcesses(marker)).toBe(0);
    expect(await run(client, `cancel-${era}`, "6*7")).toBe("42");
  });

  test("that vanishes mid-call ends the process it started", async () => {
    const marker = uniqueSleep();
    const call = post(callOf(era, { code: codeWithChild(marker), session: `vanish-${era}` }));
    await expect.poll(() => countProcesses(marker)).toBe(1);
    call.destroy();
    await expect.poll(() => countProcesses(marker)).toBe(0);
  });

  test("without the token is refused", async () => {
    await expect(connect(era, { authorization: "Bearer wrong" })).rejects.toThrow(/401|Unauthorized/);
  });
});

test("two clients of different eras share a session by its id", async () => {
  await using one = disposable(await connect("legacy"));
  await using other = disposable(await connect("modern"));
  await run(one, "shared", "x = 1");
  await run(other, "shared", "x += 1");
  expect(await run(one, "shared", "x")).toBe("2");
});

test("cancelling reaches the client's own call, and no other with the same id", async () => {
  const clients = await Promise.all([connect("legacy"), connect("legacy")]);
  const markers = clients.map(uniqueSleep);
  const callers = clients.map(() => new AbortController());
  const answers = clients.map((client, number) =>
    run(client, `own-${number}`, codeWithChild(markers[number] ?? ""), { signal: callers[number]?.signal }).catch(
      String,
    ),
  );
  const count = (): number[] => markers.map(countProcesses);
  await expect.poll(count).toEqual([1, 1]);
  callers[0]?.abort();
  await expect.poll(count).toEqual([0, 1]);
  callers[1]?.abort();
  await expect.poll(count).toEqual([0, 0]);
  await Promise.all([...answers, ...clients.map((client) => client.close())]);
});

describe("by hand", () => {
  const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

  test.each([
    ["no token", { authorization: "" }, 401, "UNAUTHORIZED"],
    ["a wrong token", { authorization: "Bearer wrong" }, 401, "UNAUTHORIZED"],
    ["the token in another scheme", { authorization: `Basic ${token}` }, 401, "UNAUTHORIZED"],
    ["a host of another name", { host: "evil.example" }, 403, "HOST_NOT_ALLOWED"],
    ["a page of another site", { origin: "http://evil.example" }, 403, "ORIGIN_NOT_ALLOWED"],
    ["a page without a name", { origin: "null" }, 403, "ORIGIN_NOT_ALLOWED"],
  ])("%s: refused before the body is read", async (_, headers, status, code) => {
    expect(await ask({ headers, body: list })).toMatchObject({ status, body: { status, code } });
  });

  test.each(["GET", "DELETE", "PUT", "HEAD"])("%s: 405, there is no session of the transport", async (method) => {
    const answer = await ask({ method, body: "" });
    expect({ status: answer.status, allow: answer.headers.allow }).toEqual({ status: 405, allow: "POST, OPTIONS" });
  });

  test("another path: 404", async () => {
    expect(await ask({ path: "/", body: list })).toMatchObject({ status: 404 });
  });

  test("a body that is too large, announced or not: 413", async () => {
    const length = 16 * 1024 * 1024 + 1;
    const announced = await ask({ headers: { "content-length": String(length) }, body: undefined });
    const sent = await ask({ headers: { "transfer-encoding": "chunked" }, body: " ".repeat(length) });
    expect([announced, sent]).toMatchObject([
      { status: 413, body: { code: "BODY_TOO_LARGE" } },
      { status: 413, body: { code: "BODY_TOO_LARGE" } },
    ]);
  });

  test.each([
    ["half of it", "{", 400, -32_700],
    ["nothing", "", 400, -32_700],
    ["null", "null", 400, -32_600],
    ["a number", "5", 400, -32_600],
    ["an empty list", "[]", 400, -32_600],
    ["an object of another kind", "{}", 400, -32_600],
  ])("%s: a JSON-RPC error", async (_, body, status, code) => {
    expect(await ask({ body })).toMatchObject({ status, body: { jsonrpc: "2.0", id: null, error: { code } } });
  });

  test("another media type: 415", async () => {
    expect(await ask({ headers: { "content-type": "text/plain" }, body: list })).toMatchObject({ status: 415 });
  });

  test("a client that disconnects before its message is complete is no problem", async () => {
    const request = httpRequest(server.url, { method: "POST", headers: { ...SENT, "content-length": "1000" } });
    const gone = new Promise((resolve) => request.on("error", () => {}).on("close", resolve));
    request.write("{", () => request.destroy());
    await gone;
    expect(await ask({ body: list })).toMatchObject({ status: 200 });
  });

  test("no mistake of a client was reported as an internal error", () => {
    expect(unexpected).toEqual([]);
  });
});

test("an internal error: 500, without details", async () => {
  const failure = new Error("the secret is 42");
  await using broken = disposable(
    await serve(() => {
      throw failure;
    }),
  );
  const { status, body } = await ask({
    url: broken.url,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  expect({ status, text: JSON.stringify(body) }).toEqual({ status: 500, text: expect.not.stringContaining("42") });
  expect(unexpected.splice(0)).toEqual([failure]);
});

describe("close()", () => {
  test("lets a call finish, and accepts no more", async () => {
    const own = await serve(createFactory(runtime));
    const client = await connect("modern", {}, own.url);
    const session = await runtime.openSession({ id: "draining" });
    const answer = run(client, session.id, "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n'done'");
    await expect.poll(async () => (await session.info()).state).toBe("running");
    const closing = own.close(600_000);
    await session.files.write("go", "");
    await closing;
    expect(await answer).toBe("'done'");
    await expect(connect("legacy", {}, own.url)).rejects.toThrow("fetch failed");
  });

  test("does not wait for subscriptions", async () => {
    const own = await serve(createFactory(runtime));
    const client = await connect("modern", {}, own.url);
    await client.listen({ toolsListChanged: true });
    await own.close(600_000);
  });

  test.each(ERAS)("ends calls of the %s era that take longer", async (era) => {
    const own = await serve(createFactory(runtime));
    const marker = uniqueSleep();
    const call = post(callOf(era, { code: codeWithChild(marker), session: `late-${era}` }), own.url);
    await expect.poll(() => countProcesses(marker)).toBe(1);
    await own.close(0);
    await expect.poll(() => countProcesses(marker)).toBe(0);
    call.destroy();
  });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

interface Question {
  readonly method?: string;
  readonly url?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  /** Undefined: announced, and never sent. */
  readonly body: string | undefined;
}

const SENT = {
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

function ask({ method = "POST", url = server.url, path = "/mcp", headers = {}, body }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL(path, url), { method, headers: { ...SENT, ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk));
      response.on("error", reject).on("end", () => {
        request.destroy();
        const isJSON = /json/.test(response.headers["content-type"] ?? "") && text !== "";
        resolve({ status: response.statusCode, headers: response.headers, body: isJSON ? JSON.parse(text) : text });
      });
    });
    request.on("error", reject);
    if (body === undefined) request.flushHeaders();
    else request.end(body);
  });
}

/** A pending request, whose response nobody reads. */
function post({ headers, body }: { headers: Record<string, string>; body: string }, url = server.url) {
  const request = httpRequest(url, { method: "POST", headers: { ...SENT, ...headers } });
  request.on("error", () => {}).end(body);
  return request;
}

function callOf(era: Era, args: object): { headers: Record<string, string>; body: string } {
  const prefix = "io.modelcontextprotocol/";
  const envelope = {
    [`${prefix}protocolVersion`]: MODERN,
    [`${prefix}clientInfo`]: { name: "tests", version: "1" },
    [`${prefix}clientCapabilities`]: {},
  };
  const params = { name: "run", arguments: args, ...(era === "modern" && { _meta: envelope }) };
  const names = { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "run" };
  return {
    headers: era === "modern" ? names : { "mcp-session-id": "whoever" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  };
}

function disposable<Thing extends { close(drainMs?: number): Promise<void> }>(thing: Thing): Thing & AsyncDisposable {
  return Object.assign(thing, { [Symbol.asyncDispose]: () => thing.close(0) });
}
