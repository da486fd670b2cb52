// Bytes that no client of good will sends. Each is refused or does no harm, its connection is left in the right state, and another client
// beside it is served.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../../internals.ts";
import { createServerContext } from "../../../../src/server/create-context.ts";
import { createApp } from "../../../../src/server/http/app.ts";
import { listen, type HTTPListener } from "../../../../src/server/net/listen.ts";
import { openTestRuntime } from "../../../open.ts";

const TOKEN = "secret";
const AUTH = `Host: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`;
const LAST = "Connection: close\r\n";

let runtime: Runtime;
let server: HTTPListener;
let port: number;
const malformed: string[] = [];
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  await runtime.warm();
  server = await listen(createApp(createServerContext(runtime), { token: TOKEN }), {
    host: "127.0.0.1",
    port: 0,
    onMalformed: ({ code }) => void malformed.push(code),
  });
  port = Number(new URL(server.url).port);
});
afterAll(async () => {
  await server.close(0);
  await runtime.close();
});

async function open(): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** What comes back until the connection is closed. */
async function send(bytes: string | Buffer): Promise<string> {
  const socket = await open();
  socket.write(bytes);
  return text(socket);
}

function statuses(answer: string): readonly number[] {
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]));
}

async function expectServed(): Promise<void> {
  expect(statuses(await send(`GET /v1/version HTTP/1.1\r\n${AUTH}${LAST}\r\n`))).toEqual([200]);
}

const POST = `POST /v1/sessions/nope/execute HTTP/1.1\r\n${AUTH}`;
const SMUGGLED = `GET /v1/smuggled HTTP/1.1\r\n${AUTH}${LAST}\r\n`;

describe("framing", () => {
  test.each<[string, string]>([
    ["Content-Length and Transfer-Encoding", `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["Transfer-Encoding and Content-Length", `${POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
    ["two Content-Lengths", `${POST}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}`],
    ["two equal Content-Lengths", `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    ["a list of Content-Lengths", `${POST}Content-Length: 2, 2\r\n\r\n{}`],
    ["a Content-Length with a sign", `${POST}Content-Length: +2\r\n\r\n{}`],
    ["a negative Content-Length", `${POST}Content-Length: -1\r\n\r\n{}`],
    ["a Content-Length in hexadecimal", `${POST}Content-Length: 0x2\r\n\r\n{}`],
    ["a Content-Length beyond all numbers", `${POST}Content-Length: 99999999999999999999999\r\n\r\n{}`],
    ["a Transfer-Encoding that is none", `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ["chunked that is not last", `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ["a space before the colon", `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
    ["a folded header", `${POST}X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}`],
    ["a folded Transfer-Encoding", `${POST}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
    ["line feeds alone", `GET /v1/version HTTP/1.1\nHost: localhost\nAuthorization: Bearer ${TOKEN}\n\n`],
    ["a carriage return alone", `GET /v1/version HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n`],
    ["NUL in a header", `${POST}X-A: b\0c\r\nContent-Length: 2\r\n\r\n{}`],
    ["a chunk size that is no number", `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ["a chunk size that overflows", `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`],
    ["a chunk that is longer than it says", `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
    ["endless chunk extensions", `${POST}Transfer-Encoding: chunked\r\n\r\n2;${"x".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
    ["no method", " /v1/version HTTP/1.1\r\n\r\n"],
    ["a method of its own", `FETCH /v1/version HTTP/1.1\r\n${AUTH}\r\n`],
    ["a method in small letters", `get /v1/version HTTP/1.1\r\n${AUTH}\r\n`],
    ["HTTP/0.9", "GET /v1/version\r\n"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["HTTP/3.7", `GET /v1/version HTTP/3.7\r\n${AUTH}\r\n`],
    ["TLS", "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00FC\u0003\u0003"],
    ["CONNECT", "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a URL of 20 KB", `GET /${"x".repeat(20_000)} HTTP/1.1\r\n${AUTH}\r\n`],
    ["a header of 20 KB", `GET / HTTP/1.1\r\n${AUTH}X-A: ${"x".repeat(20_000)}\r\n\r\n`],
    ["no Host", `GET /v1/version HTTP/1.1\r\nAuthorization: Bearer ${TOKEN}\r\n${LAST}\r\n`],
  ])("%s: refused, and nothing after it is taken for a request", async (_, bytes) => {
    const answer = await send(bytes + SMUGGLED);
    const [first = 400, ...others] = statuses(answer);
    expect([400, 405, 413, 431]).toContain(first);
    expect(others).toEqual([]);
    expect(answer).not.toContain("/v1/smuggled");
    await expectServed();
  });

  test("a missing Host is a problem document, too; other expectations than 100-continue are ignored", async () => {
    const nameless = await send(`GET /v1/version HTTP/1.1\r\nAuthorization: Bearer ${TOKEN}\r\n${LAST}\r\n`);
    expect(nameless).toContain("application/problem+json");
    expect(nameless).toContain('"code":"MALFORMED"');
    expect(statuses(await send(`GET /v1/version HTTP/1.1\r\n${AUTH}Expect: wonders\r\n${LAST}\r\n`))).toEqual([200]);
  });

  test("a body that is held back is requested when it is read; a refused request never sends it", async () => {
    await using session = await runtime.openSession();
    const head = (id: string, token = TOKEN, bytes = 5): string =>
      `PUT /v1/sessions/${id}/files/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${bytes}\r\n`;
    for (const [asked, status] of [
      [head(session.id, "wrong"), 401],
      [head("nope"), 404],
      [`${POST}Expect: 100-continue\r\nContent-Length: 99999999999\r\n`, 413],
    ] as const) {
      const refused = await send(`${asked}\r\n${SMUGGLED}`);
      expect([statuses(refused), refused.includes("/v1/smuggled")]).toEqual([[status], false]);
    }
    const socket = await open();
    socket.write(`${head(session.id)}${LAST}\r\n`);
    const [interim] = (await once(socket, "data")) as [Buffer];
    expect(interim.toString()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("hello");
    expect(statuses(await text(socket))).toEqual([201]);
    expect(new TextDecoder().decode(await session.files.read("a"))).toBe("hello");
    const execute = `{"code":"6*7"}`;
    const answer = await send(
      `POST /v1/sessions/${session.id}/execute HTTP/1.1\r\n${AUTH}${LAST}Expect: 100-continue\r\n` +
        `Content-Length: ${execute.length}\r\n\r\n${execute}`, // without waiting
    );
    expect(statuses(answer)).toEqual([100, 200]);
  });

  test("the reason is a problem document, and is reported", async () => {
    malformed.length = 0;
    const answer = await send(`GET /${"x".repeat(20_000)} HTTP/1.1\r\n${AUTH}\r\n`);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 431 [\s\S]*application\/problem\+json[\s\S]*Connection: close/);
    expect(JSON.parse(body)).toMatchObject({ status: 431, code: "HEADERS_TOO_LARGE" });
    expect(malformed).toEqual(["HEADERS_TOO_LARGE"]);
  });

  test("a chunked body with small extensions, in odd pieces, is read correctly", async () => {
    const socket = await open();
    for (const piece of [
      `${POST}${LAST}Transfer-Encoding: chu`,
      "nked\r\n\r\n1;a=b\r",
      "\n{\r\n1\r\n}\r\n0",
      "\r\n\r\n",
    ]) {
      socket.write(piece);
      await new Promise(setImmediate);
    }
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 422 /);
  });

  test("pipelined requests are answered in order, up to the malformed one", async () => {
    const good = `GET /v1/version HTTP/1.1\r\n${AUTH}\r\n`;
    const found = statuses(await send(`${good}${good}NONSENSE\r\n\r\n${SMUGGLED}`));
    expect(found.filter((status) => status !== 200 && status !== 400)).toEqual([]);
    expect(found.filter((status) => status === 200).length).toBeLessThanOrEqual(2);
    await expectServed();
  });

  test("dozens of pipelined requests are all answered; a hundred end the connection", async () => {
    const good = `GET /v1/health HTTP/1.1\r\n${AUTH}\r\n`;
    const last = `GET /v1/health HTTP/1.1\r\n${AUTH}${LAST}\r\n`;
    expect([...(await send(good.repeat(50) + last)).matchAll(/HTTP\/1\.1 200 OK/g)]).toHaveLength(51);
    const before = malformed.length;
    await send(good.repeat(10_000) + last).catch(() => {}); // it may be reset
    expect(malformed.slice(before)).toEqual(["PIPELINE_TOO_LONG"]);
    await expectServed();
  });

  test("nothing is written into the middle of another response", async () => {
    const code = JSON.stringify({ code: "import time; time.sleep(0.3); 'whole'" });
    const execute = `POST /process/interpreter/execute HTTP/1.1\r\n${AUTH}Content-Length: ${code.length}\r\n\r\n${code}`;
    const found = statuses(await send(`${execute}NONSENSE\r\n\r\n`));
    expect(found).not.toContain(400);
    await expectServed();
  });

  test("a client that closes its half of the connection has disconnected, and its code is interrupted", async () => {
    const code = JSON.stringify({ code: "while True: pass", timeout: 600 });
    const socket = await open();
    socket.write(`POST /process/interpreter/execute HTTP/1.1\r\n${AUTH}Content-Length: ${code.length}\r\n\r\n${code}`);
    await expect.poll(() => runtime.sessions.list()[0]?.state).toBe("running");
    socket.end();
    expect(await text(socket)).toBe("");
    await expect.poll(() => runtime.sessions.list().length).toBe(0);
    await expectServed();
  });

  test("an incomplete body is not handled", async () => {
    const socket = await open();
    socket.end(`${POST}Content-Length: 100\r\n\r\n{"code":`);
    expect(statuses(await text(socket)).filter((status) => status < 400)).toEqual([]);
    await expectServed();
  });
});

describe("targets and names", () => {
  const get = (target: string, headers = AUTH): string => `GET ${target} HTTP/1.1\r\n${headers}${LAST}\r\n`;

  test.each<[string, string, readonly number[]]>([
    ["absolute form of another site", get("http://evil.example/v1/version"), [400, 403, 404]],
    ["absolute form with a user", get("http://a:b@localhost/v1/version"), [400, 403, 404]],
    ["authority form", get("localhost:80"), [400, 404]],
    ["an asterisk", `OPTIONS * HTTP/1.1\r\n${AUTH}${LAST}\r\n`, [400, 404, 405]],
    ["two slashes", get("//evil.example/v1/version"), [400, 404]],
    ["a backslash", get(String.raw`\v1\version`), [400, 404]],
    ["dots", get("/v1/../../etc/passwd"), [404]],
    ["encoded dots", get("/v1/%2e%2e/%2e%2e/etc/passwd"), [404]],
    ["an encoded NUL", get("/v1/sessions/a%00b"), [400, 404]],
    ["half an escape", get("/v1/sessions/%"), [400, 404]],
    ["an escape that is no UTF-8", get("/v1/sessions/%ff%fe"), [400, 404]],
    ["a fragment", get("/v1/nowhere#/v1/version"), [400, 404]],
    ["a duplicate Host", get("/v1/version", `Host: localhost\r\n${AUTH}`), [400, 403]],
    ["a second Host of another site", get("/v1/version", `${AUTH}Host: evil.example\r\n`), [400, 403]],
    [
      "a Host with a path",
      get("/v1/version", `Host: localhost/evil\r\nAuthorization: Bearer ${TOKEN}\r\n`),
      [400, 403],
    ],
    ["a Host with a user", get("/v1/version", `Host: a@localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`), [400, 403]],
    ["TRACE", `TRACE /v1/version HTTP/1.1\r\n${AUTH}${LAST}\r\n`, [400, 404, 405]],
    [
      "a forwarded host",
      get("/v1/version", `X-Forwarded-Host: x\r\nHost: evil.example\r\nAuthorization: Bearer ${TOKEN}\r\n`),
      [403],
    ],
    [
      "two tokens",
      get("/v1/version", `Host: localhost\r\nAuthorization: Bearer x\r\nAuthorization: Bearer ${TOKEN}\r\n`),
      [401],
    ],
    ["a token in the query", get(`/v1/version?token=${TOKEN}`, "Host: localhost\r\n"), [401]],
    ["a method in a header", get("/v1/nowhere", `${AUTH}X-HTTP-Method-Override: DELETE\r\n`), [404]],
  ])("%s", async (_, bytes, allowed) => {
    const [status = 0, ...others] = statuses(await send(bytes));
    expect(allowed).toContain(status);
    expect(others).toEqual([]);
    await expectServed();
  });

  test("an Upgrade for an unknown path is a plain request", async () => {
    const bytes = `GET /v1/version HTTP/1.1\r\n${AUTH}Connection: Upgrade, close\r\nUpgrade: nonsense/9\r\n\r\n`;
    const [status = 0] = statuses(await send(bytes));
    expect([200, 400, 404, 426]).toContain(status);
    await expectServed();
  });
});

describe("bodies", () => {
  async function post(path: string, body: string | Buffer): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await send(
      Buffer.concat([
        Buffer.from(`POST ${path} HTTP/1.1\r\n${AUTH}${LAST}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`),
        Buffer.from(body),
      ]),
    );
    const [, json = "{}"] = answer.split("\r\n\r\n");
    return { status: statuses(answer)[0] ?? 0, body: JSON.parse(json) as Record<string, unknown> };
  }

  const deep = (open_: string, close: string): string => open_.repeat(100_000) + close.repeat(100_000);

  test.each<[string, string | Buffer]>([
    ["nothing of JSON", "code=1"],
    ["half of it", '{"code":"1"'],
    ["something after it", '{"code":"1"} {"code":"2"}'],
    ["a comment", '{"code":"1"/**/}'],
    ["NaN", '{"code":"1","timeout":NaN}'],
    ["a number beyond all", '{"code":"1","timeout":1e999}'],
    ["a number of a million digits", `{"code":"1","timeout":${"9".repeat(1_000_000)}}`],
    ["100,000 lists", `{"code":${deep("[", "]")}}`],
    ["100,000 objects", `{"code":${`{"a":`.repeat(100_000)}1${"}".repeat(100_000)}}`],
    ["a field twice", '{"code":"1","code":"2"}'],
    ["a field twice, written differently", String.raw`{"code":"1","\u0063ode":"2"}`],
    ["__proto__", '{"code":"1","__proto__":{"polluted":true}}'],
    ["constructor", '{"code":"1","constructor":{"prototype":{"polluted":true}}}'],
    ["prototype", '{"code":"1","prototype":{}}'],
    ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ["UTF-16", Buffer.from('{"code":"1"}', "utf16le")],
    ["a list", "[]"],
    ["a text", '"code"'],
    ["null", "null"],
  ])("%s: refused", async (_, body) => {
    for (const path of ["/process/interpreter/execute", "/v1/sessions"]) {
      expect((await post(path, body)).status).toBe(422);
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "a variable of the environment that is called %s is nothing else",
    async (name) => {
      const code = `import os; print(os.environ.get("${name}"))`;
      const { status, body } = await post(
        "/process/interpreter/execute",
        `{"code":${JSON.stringify(code)},"envs":{"${name}":"mine"}}`,
      );
      expect([200, 422]).toContain(status);
      if (status === 200) expect(["mine\n", "None\n"]).toContain(body["stdout"]);
      expect(({} as Record<string, unknown>)["mine"]).toBeUndefined();
      expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    },
  );

  test("lone surrogates and control characters in code arrive or are refused, and break nothing", async () => {
    const { status } = await post("/process/interpreter/execute", String.raw`{"code":"'\ud800\u0000'"}`);
    expect([200, 422]).toContain(status);
    await expectServed();
  });
});

describe("the token", () => {
  test.each([
    ["Bearer secret", 200],
    ["bearer secret", 200],
    ["BEARER   secret", 200],
    ["Bearer secret ", 200],
    ["Bearer", 401],
    ["Bearer  ", 401],
    ["Bearersecret", 401],
    ["Bearer secret,Bearer secret", 401],
    ["Bearer\tsecret", 401],
    ["Basic c2VjcmV0", 401],
    ["Token secret", 401],
    [`Bearer ${"x".repeat(10_000)}`, 401],
  ])("'%s': %i", async (authorization, status) => {
    const bytes = `GET /v1/version HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n${LAST}\r\n`;
    expect(statuses(await send(bytes))).toEqual([status]);
  });
});

test.each([
  ["whose head never ends", `GET / HTTP/1.1\r\n${AUTH}`, /^HTTP\/1\.1 408 [\s\S]*"code":"TOO_SLOW"/],
  ["whose body never ends", `${POST}Content-Length: 1000\r\n\r\n{`, /^(?:HTTP\/1\.1 4\d\d [\s\S]*)?$/],
])("a request %s is refused", async (_, bytes, response) => {
  const slow = await listen(createApp(createServerContext(runtime), { token: TOKEN }), {
    host: "127.0.0.1",
    port: 0,
    requestMs: 50,
    checkMs: 20,
  });
  const socket = connect(Number(new URL(slow.url).port), "127.0.0.1").on("error", () => {});
  socket.write(bytes);
  expect(await text(socket)).toMatch(response);
  await slow.close(0);
});
