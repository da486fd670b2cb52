import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { streamBody, type RequestBody } from "../../src/client/net/body.ts";
import { Connection } from "../../src/client/net/connection.ts";
import { systemClock } from "../../src/client/net/clock.ts";
import { growthDuring } from "../hostile/live-memory.ts";

const PIECE_BYTES = 256 * 1024;
const TOTAL_BYTES = 400 * 1024 * 1024;
const MAX_HELD_MIB = 64;

async function* zeros(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < TOTAL_BYTES; sent += PIECE_BYTES) yield new Uint8Array(PIECE_BYTES);
}

test("a stream that is sent is not kept in memory", { tags: "stress" }, async () => {
  const body = await streamBody(zeros, "application/octet-stream", false);
  expect(await growthDuring(() => send(body))).toBeLessThan(MAX_HELD_MIB);
});

/** Sends it to a server that drops it. */
async function send(body: RequestBody): Promise<void> {
  let received = 0;
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => void (received += chunk.length));
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
}
