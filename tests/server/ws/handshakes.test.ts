import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { handshake, openServer, openWatchedSession, TOKEN, type TestServer } from "./connect.ts";

let runtime: Runtime;
let server: TestServer;
let session: Session;
let path: string;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ runtime, server, session, path, close } = await openWatchedSession());
});
afterAll(() => close());

const authorization = `Bearer ${TOKEN}`;

async function giveTicket(body: object = {}): Promise<string> {
  const response = await server.post("/v1/tickets", body);
  return ((await response.json()) as { ticket: string }).ticket;
}

describe("a handshake", () => {
  test.each([
    ["without a token", {}, 401, "UNAUTHORIZED"],
    ["with another token", { authorization: "Bearer no" }, 401, "UNAUTHORIZED"],
    ["under another name", { authorization, host: "evil.example" }, 403, "HOST_NOT_ALLOWED"],
    ["from a page of another site", { authorization, origin: "https://evil.example" }, 403, "ORIGIN_NOT_ALLOWED"],
    ["without a key", { authorization, "sec-websocket-key": "" }, 400, "BAD_HANDSHAKE"],
    ["with a key that is none", { authorization, "sec-websocket-key": "short" }, 400, "BAD_HANDSHAKE"],
    ["of another version", { authorization, "sec-websocket-version": "7" }, 400, "BAD_HANDSHAKE"],
    ["with broken subprotocols", { authorization, "sec-websocket-protocol": "a,,b" }, 400, "BAD_HANDSHAKE"],
  ])("%s is refused with a reason", async (_, headers, status, code) => {
    const refusal = await server.refused(path, headers);
    expect(refusal).toMatchObject({ status, body: { status, code } });
    expect(refusal.headers).toMatchObject({
      "content-type": "application/problem+json",
      connection: "close",
      "x-content-type-options": "nosniff",
    });
  });

  test("for an unknown session is refused, and with a token in the URL, too", async () => {
    expect(await server.refused("/v1/sessions/none/ws")).toMatchObject({ status: 404 });
    expect(await server.refused(`${path}?token=${TOKEN}`)).toMatchObject({ status: 422 });
    expect(await server.refused(`${path}?token=${TOKEN}`, {})).toMatchObject({ status: 401 });
    expect(await server.refused("/v1/sessions/%ff/ws")).toMatchObject({ status: 404 });
  });

  test("with a ticket is accepted once, for its session, from our own pages only", async () => {
    const ticket = await giveTicket();
    await using client = await server.connect(`${path}?ticket=${ticket}`, {});
    expect(await client.next("hello")).toMatchObject({ sessionId: session.id });
    expect(await server.refused(`${path}?ticket=${ticket}`, {})).toMatchObject({
      status: 401,
      body: { code: "BAD_TICKET" },
    });
    // A bad ticket is not made good by anything else.
    expect(await server.refused(`${path}?ticket=${ticket}`)).toMatchObject({ status: 401 });

    await using other = await runtime.openSession();
    const bound = await giveTicket({ sessionId: other.id });
    expect(await server.refused(`${path}?ticket=${bound}`, {})).toMatchObject({ status: 401 });
    expect(await server.refused(`/v1/sessions/${other.id}/ws?ticket=${bound}`, {})).toMatchObject({ status: 401 });

    const spent = await giveTicket();
    expect(await server.refused(`/v1/sessions/none/ws?ticket=${spent}`, {})).toMatchObject({ status: 404 });
    expect(await server.refused(`${path}?ticket=${spent}`, {})).toMatchObject({ status: 401 });

    const origin = "https://evil.example";
    expect(await server.refused(`${path}?ticket=${await giveTicket()}`, { origin })).toMatchObject({ status: 403 });
    const own = await server.connect(`${path}?ticket=${await giveTicket()}`, { origin: server.url });
    await own[Symbol.asyncDispose]();
  });

  test("is logged and counted like any other request, without the ticket", async () => {
    const client = await server.connect(`${path}?ticket=${await giveTicket()}`, {});
    await client[Symbol.asyncDispose]();
    expect(server.answered.at(-1)).toMatchObject({ method: "GET", route: "/v1/sessions/{id}/ws", path, status: 101 });
    await server.refused(`${path}?ticket=none`, {});
    expect(server.answered.at(-1)).toMatchObject({ path, status: 401, remote: "127.0.0.1" });
  });

  test("is refused during shutdown", async () => {
    const draining = new AbortController();
    await using ending = await openServer(runtime, { draining: draining.signal });
    draining.abort();
    expect(await ending.refused(path)).toMatchObject({ status: 503, body: { code: "ENDING" } });
  });

  test("in pieces, with a frame right behind it, works", async () => {
    await using server_ = await openServer(runtime);
    const socket = await server_.openSocket();
    const bytes = Buffer.concat([Buffer.from(handshake(path)), frame(JSON.stringify({ type: "ping", id: "p" }))]);
    for (const byte of bytes) socket.write(Buffer.of(byte));
    expect(await until(socket, `"id":"p"`)).toMatch(/^HTTP\/1.1 101 [\s\S]*"hello"[\s\S]*"ok":true/);
    socket.destroy();
  });

  test("that is abandoned half-way leaves nothing", async () => {
    await using server_ = await openServer(runtime);
    for (let count = 0; count < 20; count += 1) {
      const socket = await server_.openSocket();
      socket.write(handshake(path));
      socket.resetAndDestroy();
    }
    await using client = await server_.connect(path);
    expect(await client.ask({ type: "ping" })).toMatchObject({ ok: true });
    await expect.poll(() => server_.webSockets.size).toBe(1);
  });
});

describe("offers to upgrade that are not for a WebSocket", () => {
  const offer =
    "Host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAA\r\n";

  test("are ignored, and the request is served, with its body, on a connection that stays open", async () => {
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    const body = JSON.stringify({ sessionId: session.id });
    const post = `POST /v1/tickets HTTP/1.1\r\n${offer}Authorization: ${authorization}\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(post);
    socket.write(body);
    expect(await until(socket, "expiresAt")).toMatch(/^HTTP\/1.1 201 /);
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warn);
    for (let count = 0; count < 30; count += 1) {
      socket.write(post + body);
      expect(await until(socket, "expiresAt")).toMatch(/^HTTP\/1.1 201 /);
    }
    process.off("warning", warn);
    expect(warnings).toEqual([]);
    socket.destroy();
  });

  test("are guarded like any other request", async () => {
    expect(
      await server.raw(`GET /v1/sessions HTTP/1.1\r\n${offer}\r\n`.replace("Upgrade,", "close, Upgrade,")),
    ).toMatch(/^HTTP\/1.1 401 /);
    const webSocketElsewhere = handshake("/v1/sessions", { Authorization: undefined, Connection: "Upgrade" });
    const socket = await server.openSocket();
    socket.write(webSocketElsewhere);
    expect(await until(socket, "UNAUTHORIZED")).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
  });
});

/** A client's frame, masked with zeros. */
function frame(text: string): Buffer {
  return Buffer.concat([Buffer.of(0x81, 0x80 | text.length, 0, 0, 0, 0), Buffer.from(text)]);
}

async function until(socket: Socket, part: string): Promise<string> {
  let read = "";
  for (;;) {
    const [chunk] = (await once(socket, "data")) as [Buffer];
    read += chunk.toString("latin1");
    if (read.includes(part)) return read;
  }
}
