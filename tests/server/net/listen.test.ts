import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { listen } from "../../../src/server/net/listen.ts";

const MIB = 1024 * 1024;

test.each([
  ["is cut off", () => new Uint8Array(64 * MIB)],
  ["of a stream is cut off", () => endless()],
])("a client that reads nothing of its response %s", async (_, createBody) => {
  let begun: (value: boolean) => void = () => {};
  const asked = new Promise<boolean>((resolve) => void (begun = resolve));
  const app = new Hono().get("/", () => {
    begun(true);
    return new Response(createBody());
  });
  const server = await listen(app, { host: "127.0.0.1", port: 0, writeMs: 100 });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
  socket.pause().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(await asked).toBe(true);
  await server.close(600_000); // as soon as no connection is left
  socket.destroy();
});

test("connections beyond the limit are closed at once, the others served", async () => {
  const app = new Hono().get("/", () => new Response("here"));
  const server = await listen(app, { host: "127.0.0.1", port: 0, maxConnections: 2 });
  const port = Number(new URL(server.url).port);
  const open = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  const [first] = [await open(), await open()];
  const third = await open();
  await once(third.resume(), "close");
  first.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect(await text(first)).toMatch(/^HTTP\/1.1 200[\s\S]*here/);
  await server.close(0);
});

/** As much as is taken. */
function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(MIB)) });
}
