// Large bodies and responses over a real socket: memory stays flat, and nothing hangs when either end disconnects.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../../internals.ts";
import { createServerContext } from "../../../../src/server/create-context.ts";
import { createApp } from "../../../../src/server/http/app.ts";
import type { ServerContext } from "../../../../src/server/context/server-context.ts";
import { listen, type HTTPListener } from "../../../../src/server/net/listen.ts";
import { growthDuring } from "../../../hostile/live-memory.ts";
import { openTestRuntime } from "../../../open.ts";
import { TOKEN } from "../request.ts";

const MIB = 1024 * 1024;
const headers = { authorization: `Bearer ${TOKEN}` };

let runtime: Runtime;
let context: ServerContext;
let server: HTTPListener;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random", limits: { diskBytes: 256 * MIB } });
  context = createServerContext(runtime);
  server = await listen(createApp(context, { token: TOKEN }), { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await server.close(0);
  await runtime.close();
});

const filesOf = ({ id }: Session): string => `${server.url}/v1/sessions/${id}/files`;

const PIECE = new Uint8Array(MIB).fill(7);

/** Begins a request whose body never ends by itself. */
function begin(path: string, length = 100 * MIB) {
  const sending = request(path, { method: "PUT", agent: false, headers: { ...headers, "content-length": length } });
  sending.on("error", () => {});
  return sending;
}

/** As fast as it is taken, until the connection ends. */
async function send(sending: ReturnType<typeof begin>, count: number): Promise<void> {
  const ended = new AbortController();
  let wake = (): void => {};
  sending
    .on("drain", () => wake())
    .on("close", () => {
      ended.abort();
      wake();
    });
  for (let sent = 0; sent < count && !ended.signal.aborted; sent += 1) {
    if (!sending.write(PIECE)) await new Promise<void>((resolve) => (wake = resolve));
  }
}

async function answerTo(sending: ReturnType<typeof begin>): Promise<{ status: number; text: string }> {
  const [response] = (await once(sending, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
}

describe("200 MiB", () => {
  test("take little memory in both directions, and arrive unchanged", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const url = `${filesOf(session)}/big`;
    const up = await growthDuring(async () => {
      const sending = begin(url, 200 * MIB);
      const answer = answerTo(sending);
      await send(sending, 200);
      sending.end();
      expect((await answer).status).toBe(201);
    });
    const down = await growthDuring(async () => {
      const sending = request(url, { headers }).end();
      const [response] = (await once(sending, "response")) as [IncomingMessage];
      const [hash, expected] = [createHash("sha256"), createHash("sha256")];
      for await (const chunk of response) hash.update(chunk as Uint8Array);
      for (let count = 0; count < 200; count += 1) expected.update(PIECE);
      expect(hash.digest("hex")).toBe(expected.digest("hex"));
    });
    // Client and server are one process here.
    expect(Math.max(up, down)).toBeLessThan(120);
  });

  test("that the session does not read wait in the client, not in the server", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const sending = begin(`${filesOf(session)}/slow`, 200 * MIB);
    const answer = answerTo(sending);
    sending.write(PIECE);
    const stop = [
      "import os, signal",
      "for pid in [int(name) for name in os.listdir('/proc') if name.isdigit()]:",
      "  try:",
      "    if pid not in (1, os.getpid()): os.kill(pid, signal.SIGSTOP)",
      "  except (ProcessLookupError, PermissionError): pass", // the job that listed the files has ended
    ].join("\n");
    await expect.poll(async () => (await session.files.list()).entries.length).toBe(1);
    (await session.execute(stop).result).unwrap();
    await send(sending, 199);
    expect((await answer).status).toBe(503); // nobody waits for ever
    expect(sending.socket?.bytesWritten).toBeLessThan(20 * MIB);
  });
});

describe("an upload", () => {
  test("whose client disconnects leaves the old file", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "old");
    const sending = begin(`${filesOf(session)}/f`);
    sending.write(new Uint8Array(MIB));
    await expect.poll(async () => (await session.files.list()).entries.length).toBe(2); // it is being written
    sending.destroy();
    await expect.poll(async () => (await session.files.list()).entries.length).toBe(1);
    expect((await session.files.read("f")).toString()).toBe("old");
  });

  test("that is larger than the session's disk gets 413 while it is being sent", async () => {
    await using session = await runtime.openSession({ limits: { diskBytes: 8 * MIB } });
    const sending = begin(`${filesOf(session)}/f`, 1024 * MIB);
    const answer = answerTo(sending);
    await send(sending, 1024);
    expect(await answer).toMatchObject({ status: 413, text: expect.stringContaining('"code":"FILE"') });
  });

  test("ends with its session", async () => {
    const session = await runtime.openSession();
    const sending = begin(`${filesOf(session)}/f`);
    const answer = answerTo(sending);
    sending.write(new Uint8Array(MIB));
    await expect.poll(async () => (await session.files.list()).entries.length).toBe(1);
    await session.close();
    expect((await answer).status).toBe(410);
  });

  test("of a variable ends with its client, and leaves nothing", async () => {
    await using session = await runtime.openSession();
    const sending = begin(`${filesOf(session).replace("/files", "/variables")}/v`);
    sending.setHeader("content-type", "application/octet-stream");
    sending.write(new Uint8Array(4 * MIB));
    await expect.poll(() => context.spool.files).toBe(1);
    sending.destroy();
    await expect.poll(() => context.spool.files).toBe(0);
  });
});

describe("a download", () => {
  test("is cut when its session ends, and cannot be taken for complete", async () => {
    const session = await runtime.openSession();
    (await session.execute("open('f', 'wb').truncate(200 * 1024 * 1024)").result).unwrap();
    const response = await fetch(`${filesOf(session)}/f`, { headers });
    const reader = response.body?.getReader();
    await reader?.read();
    await session.close();
    const readAll = async () => {
      for (;;) if ((await reader?.read())?.done !== false) return;
    };
    await expect(readAll()).rejects.toThrow("terminated");
  });

  test("whose reader disconnects frees its slot", async () => {
    await using session = await runtime.openSession();
    (await session.execute("open('f', 'wb').truncate(200 * 1024 * 1024)").result).unwrap();
    for (let count = 0; count < 20; count += 1) {
      const controller = new AbortController();
      const response = await fetch(`${filesOf(session)}/f`, { headers, signal: controller.signal });
      await response.body?.getReader().read();
      controller.abort();
    }
    const response = await fetch(`${filesOf(session)}/f`, { headers: { ...headers, range: "bytes=0-2" } });
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 0, 0]);
  });
});

describe("a client that transfers single bytes now and then", () => {
  test("loses its slot for uploads and downloads, and learns why where possible", { tags: "stress" }, async () => {
    const minThroughput = { bytes: 64 * 1024, windowMs: 300 };
    const own = createServerContext(runtime, { minThroughput });
    const listening = await listen(createApp(own, { token: TOKEN }), { host: "127.0.0.1", port: 0 });
    await using session = await runtime.openSession();
    const at = `${listening.url}/v1/sessions/${session.id}`;

    const drips = Array.from({ length: 8 }, (_, count) => {
      const sending = begin(`${at}/variables/v${count}`);
      sending.setHeader("content-type", "application/octet-stream");
      const answer = answerTo(sending);
      sending.write(new Uint8Array(4 * MIB)); // it needs a file
      const timer = setInterval(() => void sending.write(new Uint8Array(1)), 20);
      sending.once("close", () => clearInterval(timer));
      return answer;
    });
    for (const { status, text: body } of await Promise.all(drips)) {
      expect([status, body]).toEqual([408, expect.stringContaining('"code":"TOO_SLOW"')]);
    }
    expect(own.spool.files).toBe(0);

    const json = begin(`${at}/execute`, MIB);
    json.method = "POST";
    const answer = answerTo(json);
    json.write(" ");
    expect((await answer).status).toBe(408);
    expect(own.bodyMemory.usedBytes).toBe(0);

    (await session.execute("x = bytes(50_000_000)").result).unwrap();
    const socket = connect(Number(new URL(listening.url).port), "127.0.0.1").on("error", () => {});
    socket.write(`POST /v1/sessions/${session.id}/save HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n`);
    socket.write(`Authorization: Bearer ${TOKEN}\r\n\r\n`);
    await once(socket, "readable");
    const timer = setInterval(() => void socket.read(1), 20);
    await expect.poll(() => own.spool.files, { timeout: 20_000 }).toBe(0);
    clearInterval(timer);
    socket.destroy();
    await listening.close(0);
  });
});

describe("output", () => {
  const code = "for i in range(40): print(chr(97 + i % 26) * (1 << 20), end='')";

  test("is the same in one chunk and in many", async () => {
    await using session = await runtime.openSession();
    const { id } = context.executions.start(session, code, {});
    await context.executions.idle();
    const path = `${server.url}/v1/executions/${id}/output`;
    const response = await fetch(`${path}?offset=5&length=100000000`, { headers });
    expect(response.headers.get("content-length")).toBe(String(40 * MIB - 5));
    expect(response.headers.get("next-offset")).toBe(String(40 * MIB));
    const whole = Buffer.concat(Array.from({ length: 40 }, (_, i) => Buffer.alloc(MIB, 97 + (i % 26)))).subarray(5);
    expect(Buffer.from(await response.arrayBuffer()).equals(whole)).toBe(true);
    const past = await fetch(`${path}?offset=${41 * MIB}`, { headers });
    expect([await past.text(), past.headers.get("next-offset")]).toEqual(["", String(41 * MIB)]);
  });

  test("costs little memory while nobody reads it", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const { id } = context.executions.start(session, code, {});
    await context.executions.idle();
    const { hostname, port } = new URL(server.url);
    const growth = await growthDuring(async () => {
      const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname).pause());
      for (const socket of sockets) {
        const line = `GET /v1/executions/${id}/output?length=41943040 HTTP/1.1`;
        socket.write(`${line}\r\nHost: localhost\r\nAuthorization: ${headers.authorization}\r\n\r\n`);
        await once(socket, "readable");
      }
      for (const socket of sockets) socket.destroy();
    });
    expect(growth).toBeLessThan(200);
  });
});

describe("a raw path that no URL parser has normalized", () => {
  test.each([
    ["/files/../../../../etc/passwd", 404],
    ["/files/%2e%2e/%2e%2e/%2e%2e/etc/passwd", 404],
    ["/files/..%2f..%2fetc/passwd", 403],
    ["/files/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 403],
    ["/files//etc/passwd", 403],
    [String.raw`/files/..\..\etc\passwd`, 400],
    ["/files/a%00b", 403],
  ])("%s is refused with %i", async (path, status) => {
    await using session = await runtime.openSession();
    const { hostname, port } = new URL(server.url);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const socket = connect(Number(port), hostname);
      const lines = [
        `${method} /v1/sessions/${session.id}${path} HTTP/1.1`,
        "Host: localhost",
        `Authorization: ${headers.authorization}`,
        "Connection: close",
        "Content-Length: 0",
      ];
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      expect((await text(socket)).slice(9, 12), method).toBe(String(status));
    }
    expect((await session.files.list()).entries).toEqual([]);
  });
});
