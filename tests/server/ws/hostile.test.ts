// Clients that break the rules, read nothing, or are gone without a word.

import { once } from "node:events";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { liveMiB } from "../../hostile/live-memory.ts";
import { WebSocket } from "ws";
import type { Runtime } from "../../internals.ts";
import { handshake, openServer, openWatchedSession, type TestServer } from "./connect.ts";

const MIB = 1024 * 1024;

let runtime: Runtime;
let server: TestServer;
let path: string;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ runtime, server, path, close } = await openWatchedSession());
});
afterAll(() => close());

describe("invalid messages", () => {
  test.each([
    ["garbage", "{{{", "The message is not JSON in UTF-8"],
    ["nothing", "", "The message is not JSON in UTF-8"],
    ["a list", "[]", "The message is wrong: expected object, received array"],
    ["deep JSON", `{"type":"ping","id":${"[".repeat(100)}${"]".repeat(100)}}`, "The message is nested deeper than 64"],
    ["very deep JSON", "[".repeat(1_000_000), "The message is nested deeper than 64"],
    ["a name twice", `{"type":"ping","type":"interrupt"}`, "The message has the field 'type' twice"],
    ["an unknown type", `{"type":"constructor"}`, "Field 'type' is wrong: Invalid discriminator value. Expected"],
    ["an unknown field", `{"type":"ping","x":1}`, "There is no field 'x'"],
    ["a prototype", `{"type":"ping","__proto__":{"id":"p"}}`, "There is no field '__proto__'"],
    ["a field of another type", `{"type":"execute","code":7}`, "Field 'code' is wrong: expected string"],
  ])("%s: a reply says why, and the socket stays open", async (_, text, detail) => {
    await using client = await server.connect(path);
    client.webSocket.send(text);
    expect(await client.next("reply")).toMatchObject({
      id: null,
      ok: false,
      problem: { status: 422, code: "INVALID_MESSAGE", detail: expect.stringContaining(detail) as string },
    });
    expect(await client.ask({ type: "ping", id: "still" })).toMatchObject({ ok: true, id: "still" });
  });

  test("have their id in the reply if it can be read", async () => {
    await using client = await server.connect(path);
    expect(await client.ask({ type: "nonsense", id: "n" })).toMatchObject({ id: "n", ok: false });
  });

  test("ten in a row close the socket; a valid one resets the count", async () => {
    await using client = await server.connect(path);
    for (let count = 0; count < 9; count += 1) await client.ask({ type: "x" });
    await client.ask({ type: "ping" });
    for (let count = 0; count < 10; count += 1) await client.ask({ type: "x" });
    expect(await client.closed).toEqual([1008, "too many messages that make no sense"]);
  });
});

describe("invalid frames", () => {
  test.each([
    ["binary", Buffer.of(0x82, 0x81, 0, 0, 0, 0, 0x20), 1003],
    ["not masked", Buffer.of(0x81, 0x01, 0x20), 1002],
    ["with reserved bits", Buffer.of(0xc1, 0x81, 0, 0, 0, 0, 0x20), 1002],
    ["of an unknown kind", Buffer.of(0x83, 0x81, 0, 0, 0, 0, 0x20), 1002],
    ["that go on with nothing", Buffer.of(0x80, 0x81, 0, 0, 0, 0, 0x20), 1002],
    ["of broken UTF-8", Buffer.of(0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28), 1007],
    ["announced as too large", Buffer.of(0x81, 0xff, 0, 0, 0, 0, 0x01, 0, 0, 0x01, 0, 0, 0, 0), 1009],
    ["with a length beyond all numbers", Buffer.of(0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0), 1009],
    ["a ping that is cut in pieces", Buffer.of(0x09, 0x80, 0, 0, 0, 0), 1002],
    ["a ping that is too long", Buffer.of(0x89, 0xfe, 0x00, 0x7e, 0, 0, 0, 0), 1002],
  ])("%s: the socket closes with the right code", async (_, bytes, code) => {
    const socket = await openRaw();
    socket.write(bytes);
    expect(await closeCode(socket)).toBe(code);
  });

  test("a fragmented message is joined, and refused if it is too large in sum", async () => {
    await using client = await server.connect(path);
    const message = JSON.stringify({ type: "ping", id: "whole" });
    client.webSocket.send(message.slice(0, 5), { fin: false });
    client.webSocket.send("", { fin: false });
    client.webSocket.send(message.slice(5), { fin: true });
    expect(await client.next("reply")).toMatchObject({ id: "whole", ok: true });
    const piece = " ".repeat(MIB);
    for (let count = 0; count < 17; count += 1) client.webSocket.send(piece, { fin: false });
    expect((await client.closed)[0]).toBe(1009);
  });

  test("a message of almost 16 MiB is accepted", async () => {
    await using client = await server.connect(path);
    const code = `# ${"x".repeat(15 * MIB)}\n6*7`;
    expect(await client.execute(code)).toMatchObject({ value: { "text/plain": "42" } });
  });

  test("a client that only closes its half is disconnected", async () => {
    await using own = await openServer(runtime);
    const socket = await openRaw(own);
    expect(own.webSockets.size).toBe(1);
    socket.end();
    await once(socket.resume(), "close");
    await expect.poll(() => own.webSockets.size).toBe(0);
  });
});

describe("a client that does not read", () => {
  test("costs limited memory, and gets everything later, as the others do at once", { tags: "stress" }, async () => {
    await using own = await runtime.openSession();
    await using fast = await server.connect(`/v1/sessions/${own.id}/ws`);
    await using slow = await server.connect(`/v1/sessions/${own.id}/ws`);
    await slow.next("hello");
    slow.webSocket.pause();
    let heard = 0;
    const before = liveMiB();
    fast.webSocket.removeAllListeners("message");
    const ended = new Promise<void>((resolve) => {
      fast.webSocket.on("message", (data: Buffer) => {
        const message = JSON.parse(data.toString()) as { type: string; text?: string };
        if (message.type === "output-delta") heard += message.text?.length ?? 0;
        if (message.type === "execution-end") resolve();
      });
    });
    fast.send({ type: "execute", code: "line = 'x' * 999 + '\\n'\nfor _ in range(100_000): print(line, end='')" });
    await ended;
    expect(heard).toBe(100_000_000);
    expect(liveMiB() - before).toBeLessThan(80);

    slow.webSocket.resume();
    const executionId = `${own.id}.1`;
    expect(await slow.next("execution-end")).toMatchObject({ executionId, cursor: "end", result: { status: "ok" } });
    expect(slow.printed(executionId).length).toBe(100_000_000);
    expect(slow.messages.filter(({ type }) => type === "lagged")).toEqual([]);
    // And gets live events again afterwards.
    expect(await slow.execute("6*7")).toMatchObject({ value: { "text/plain": "42" } });
  });

  test("is disconnected when it reads nothing for two heartbeats", async () => {
    await using own = await openServer(runtime, { heartbeatMs: 300 });
    await using watched = await runtime.openSession();
    const socket = await openRaw(own, `/v1/sessions/${watched.id}/ws`);
    socket.pause();
    await expect.poll(() => own.webSockets.size).toBe(1);
    (await watched.execute("print('x' * 20_000_000)").result).unwrap();
    await expect.poll(() => own.webSockets.size).toBe(0);
    socket.destroy();
  });

  test("but sends requests all the time is disconnected when its replies pile up", { tags: "stress" }, async () => {
    await using own = await openServer(runtime);
    const socket = await openRaw(own);
    socket.pause();
    const ping = toFrame(JSON.stringify({ type: "ping", id: "i".repeat(80) }));
    const many = Buffer.concat(Array.from({ length: 1000 }, () => ping));
    while (!socket.destroyed && own.webSockets.size > 0) {
      if (!socket.write(many)) await once(socket, "drain").catch(() => {});
    }
    await expect.poll(() => own.webSockets.size).toBe(0);
    socket.destroy();
  });
});

test("a flood of messages yields to the event loop, and each is answered", async () => {
  const pause = vi.spyOn(WebSocket.prototype, "pause");
  const count = 20_000;
  await using client = await server.connect(path);
  for (let id = 0; id < count; id += 1) client.send({ type: "ping", id });
  const isReply = ({ type }: { readonly type: string }): boolean => type === "reply";
  await expect.poll(() => client.messages.filter(isReply).length).toBe(count);
  expect(client.messages.filter(isReply).map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, id) => id));
  expect(pause).toHaveBeenCalled();
  pause.mockRestore();
});

test.each(["ping", "pong"] as const)("a flood of %ss is read in batches, and not each is answered", async (kind) => {
  using pause = vi.spyOn(WebSocket.prototype, "pause");
  await using client = await server.connect(path);
  const pongs: string[] = [];
  client.webSocket.on("pong", (content) => pongs.push(content.toString()));
  for (let count = 1; count <= 1000; count += 1) client.webSocket[kind](String(count));
  client.webSocket.ping("the last");
  await expect.poll(() => pongs.at(-1)).toBe("the last");
  expect(pongs.length).toBeLessThan(100);
  expect(pause).toHaveBeenCalled();
});

describe("many clients that hold much memory", () => {
  test("endless messages: some clients are closed, memory is limited, and an ordinary client notices nothing", async () => {
    await using own = await openServer(runtime, { maxHeldBytes: 4 * MIB });
    await using ordinary = await own.connect(path);
    const greedy = await Promise.all(Array.from({ length: 12 }, () => own.connect(path)));
    const piece = " ".repeat(MIB / 4);
    for (let count = 0; count < 4; count += 1) {
      for (const { webSocket } of greedy) webSocket.send(piece, { fin: false });
      expect(await ordinary.execute(`len("${"x".repeat(MIB / 4)}")`)).toMatchObject({
        value: { "text/plain": String(MIB / 4) },
      });
      expect(own.webSockets.heldBytes).toBeLessThanOrEqual(4 * MIB);
    }
    await expect.poll(() => own.cuts.length).toBeGreaterThan(8);
    expect(new Set(own.cuts)).toEqual(new Set(["TOO_MUCH_HELD"]));
    await expect.poll(() => own.webSockets.size).toBe(1 + greedy.length - own.cuts.length);
    for (const { webSocket } of greedy) webSocket.terminate();
    const codes = await Promise.all(greedy.map(async ({ closed }) => (await closed)[0]));
    expect(codes).toContain(1013);
    await expect.poll(() => own.webSockets.heldBytes).toBe(0);
  });

  test("stuck readers: none is closed, and each gets everything later", async () => {
    await using own = await openServer(runtime, { maxHeldBytes: 6 * MIB });
    await using session = await runtime.openSession();
    const at = `/v1/sessions/${session.id}/ws`;
    const slow = await Promise.all(Array.from({ length: 3 }, () => own.connect(at)));
    for (const { webSocket } of slow) webSocket.pause();
    (await session.execute("for _ in range(20_000): print('x' * 999)").result).unwrap();
    expect(own.webSockets.heldBytes).toBeLessThanOrEqual(6 * MIB);
    for (const client of slow) {
      client.webSocket.resume();
      await client.next("execution-end");
      expect(client.printed().length).toBe(20_000_000);
      client.webSocket.terminate();
    }
    expect(own.cuts).toEqual([]);
  });

  test("endless pings of a client that reads nothing pile up no answers", async () => {
    await using own = await openServer(runtime);
    const socket = await openRaw(own);
    socket.pause();
    const ping = Buffer.concat([Buffer.of(0x89, 0xfd, 0, 0, 0, 0), Buffer.alloc(125)]);
    const many = Buffer.concat(Array.from({ length: 8000 }, () => ping)); // 1 MiB
    await using other = await own.connect(path);
    const before = liveMiB();
    for (let count = 0; count < 30; count += 1) {
      if (!socket.write(many)) await once(socket, "drain");
      expect(await other.ask({ type: "ping" })).toMatchObject({ ok: true });
    }
    expect(liveMiB() - before).toBeLessThan(64);
    socket.destroy();
  });
});

describe("a client that vanishes", () => {
  test("is noticed by its silence, and one that answers stays", async () => {
    await using own = await openServer(runtime, { heartbeatMs: 1500 });
    await using client = await own.connect(path);
    const socket = await openRaw(own); // takes everything, and never answers a ping
    socket.resume();
    await once(socket, "close");
    await expect.poll(() => own.webSockets.size).toBe(1);
    expect(await client.ask({ type: "ping" })).toMatchObject({ ok: true });
  });

  test("leaves its execution running, and the session unchanged", async () => {
    await using own = await runtime.openSession();
    const client = await server.connect(`/v1/sessions/${own.id}/ws`);
    const { executionId } = await client.ask({ type: "execute", code: "x = input()" });
    await client.next("input-start");
    client.webSocket.terminate();
    await using next = await server.connect(`/v1/sessions/${own.id}/ws`);
    expect(await next.ask({ type: "stdin", executionId, text: "kept" })).toMatchObject({ ok: true });
    expect(await next.execute("x")).toMatchObject({ value: { "text/plain": "'kept'" } });
  });
});

async function openRaw(own = server, at = path): Promise<Socket> {
  const socket = await own.openSocket();
  socket.write(handshake(at));
  let read = "";
  while (!read.includes(`"hello"`)) {
    const [chunk] = (await once(socket, "data")) as [Buffer];
    read += chunk.toString("latin1");
  }
  return socket;
}

/** Of the close frame that comes. Null: something else does. */
async function closeCode(socket: Socket): Promise<number | null> {
  const [frame] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return frame[0] === 0x88 ? frame.readUInt16BE(2) : null;
}

/** A client's frame, masked with zeros. */
function toFrame(text: string): Buffer {
  return Buffer.concat([Buffer.of(0x81, 0x80 | text.length, 0, 0, 0, 0), Buffer.from(text)]);
}
