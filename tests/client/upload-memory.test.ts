import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { streamBody, type RequestBody } from "../../src/client/net/body.ts";
import { Connection } from "../../src/client/net/connection.ts";
import { systemClock } from "../../src/client/net/clock.ts";

const PIECE_BYTES = 256 * 1024;
const TOTAL_BYTES = 400 * 1024 * 1024;
const MAX_HELD_BYTES = 150 * 1024 * 1024;

async function* zeros(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < TOTAL_BYTES; sent += PIECE_BYTES) yield new Uint8Array(PIECE_BYTES);
}

test("a stream that is sent is not kept in memory", async () => {
  expect(await heldWhileSending(await streamBody(zeros, "application/octet-stream", false))).toBeLessThan(
    MAX_HELD_BYTES,
  );
});

/** Sends it to a server that drops it. Resolves with the most bytes that were held at once beyond those before. */
async function heldWhileSending(body: RequestBody): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  let received = 0;
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => {
      received += chunk.length;
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    });
    request.on("end", () => response.end("{}"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const connection = new Connection({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: () => "token",
    fetch,
    clock: systemClock,
    maxElapsedMs: 1000,
    onWarning: () => {},
  });
  const { close } = await connection.attempt("POST", "/", { body, isPatient: true });
  close();
  server.close();
  expect(received).toBe(TOTAL_BYTES);
  return most;
}
