import { connect } from "node:net";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { listen } from "../../src/server/http/serve.ts";

const MIB = 1024 * 1024;

test.each([
  ["is cut off", () => new Uint8Array(64 * MIB)],
  ["of a stream is cut off", () => endless()],
])("a client that takes nothing of its answer %s", async (_, createBody) => {
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

/** As much as is taken. */
function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(MIB)) });
}
