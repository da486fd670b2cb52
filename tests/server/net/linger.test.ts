import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { createServerContext } from "../../../src/server/create-context.ts";
import { createApp } from "../../../src/server/http/app.ts";
import { listen, type HTTPListener } from "../../../src/server/net/listen.ts";
import { openTestRuntime } from "../../open.ts";
import { TOKEN } from "../http/request.ts";

const MIB = 1024 * 1024;
let runtime: Runtime;
let server: HTTPListener;
beforeAll(async () => {
  runtime = await openTestRuntime();
  server = await listen(createApp(createServerContext(runtime), { token: TOKEN }), { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await server.close(0);
  await runtime.close();
});

async function begin(path: string, length: string, token = TOKEN): Promise<Socket> {
  const socket = connect({ port: Number(new URL(server.url).port), host: "127.0.0.1", allowHalfOpen: true });
  await once(socket, "connect");
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${length}\r\n\r\n`);
  return socket;
}

/** What the server sends, up to its end. The socket stays open for writing. */
async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, "end");
  return text;
}

test.each([
  ["an unknown session", "/v1/sessions/nope/files/a", "Content-Length: 100000000", TOKEN, 404],
  ["a wrong token", "/v1/sessions/nope/files/a", "Content-Length: 100000000", "wrong", 401],
  ["too large a body", "/v1/stdlib", "Content-Length: 100000000", TOKEN, 405],
  ["a body of unknown length", "/v1/sessions/nope/files/a", "Transfer-Encoding: chunked", TOKEN, 404],
])(
  "a client that sends on after a refusal for %s gets the response, and no reset",
  async (_, path, length, token, status) => {
    const socket = await begin(path, length, token);
    const errors: Error[] = [];
    socket.on("error", (error) => errors.push(error));
    const response = await readAll(socket);
    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(response.toLowerCase()).toContain("connection: close");
    // It had not noticed yet: a reset would be an error here.
    const chunk = Buffer.alloc(MIB);
    const framed = length.startsWith("T")
      ? Buffer.concat([Buffer.from("100000\r\n"), chunk, Buffer.from("\r\n")])
      : chunk;
    for (let sent = 0; sent < 4; sent += 1) await new Promise((resolve) => socket.write(framed, resolve));
    socket.destroy();
    expect(errors).toEqual([]);
  },
);

test("a client that never stops is disconnected in the end", async () => {
  const socket = await begin("/v1/sessions/nope/files/a", "Content-Length: 10000000000");
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.on("error", () => {});
  socket.resume();
  while (!socket.destroyed) {
    if (!socket.writableNeedDrain) socket.write(Buffer.alloc(MIB));
    await setImmediate();
  }
  await closed;
});

test("after the refusal of a small body the connection is used again", async () => {
  const socket = await begin("/v1/sessions/nope/files/a", "Content-Length: 3");
  const [first] = (await once(socket, "data")) as [Buffer];
  expect(first.toString()).toMatch(/^HTTP\/1.1 404 /);
  socket.write("abcGET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect(await readAll(socket)).toMatch(/^HTTP\/1.1 200 /);
  socket.destroy();
});
