// Requests that would have the connection become something else, before it is decided what becomes of them.

import { STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { toResponse, type Problem } from "./problem.ts";

/** What makes connections into something other than HTTP. */
export interface Upgrader {
  /** Whether it takes care of such a request; the others are answered as if they had not asked for it. */
  isFor(incoming: IncomingMessage): boolean;
  /** `ask` answers as the routes would. */
  upgrade(incoming: IncomingMessage, stream: Duplex, head: Buffer, ask: Ask): void;
  /** The server begins to end: whoever has nothing to wait for goes. */
  drain(): void;
  /** Now all have to go. */
  end(): void;
}

export type Ask = (request: Request, incoming: IncomingMessage) => Response | Promise<Response>;

/** How long a client that was refused may take to read why. */
const LINGER_MS = 1000;
const HOP_HEADERS = new Set(["connection", "upgrade", "http2-settings"]);

export function handleUpgrades(server: Server, upgrader: Upgrader, ask: Ask): void {
  server.on("upgrade", (incoming, stream, head) => {
    if (!upgrader.isFor(incoming)) {
      ignoreUpgrade(server, incoming, stream, head);
      return;
    }
    stream.on("error", () => {}); // it has gone, and nothing was promised to it
    upgrader.upgrade(incoming, stream, head, ask);
  });
}

/** Answers on a connection that has left HTTP behind, and ends it. */
export async function refuse(stream: Duplex, refusal: Problem | Response): Promise<void> {
  const response = refusal instanceof Response ? refusal : toResponse(refusal);
  const body = Buffer.from(await response.arrayBuffer());
  const { status, headers } = response;
  headers.set("connection", "close");
  headers.set("x-content-type-options", "nosniff");
  headers.set("cache-control", "no-store");
  headers.set("content-length", String(body.length));
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`;
  stream.resume().end(Buffer.concat([Buffer.from(head, "latin1"), body]));
  const timer = setTimeout(() => stream.destroy(), LINGER_MS);
  stream.once("close", () => clearTimeout(timer));
}

/**
 * A client may offer to speak something else and must bear that nobody listens; some offer it with every request. Node has let go of the
 * connection by now, so it is given the same request once more, without the offer.
 */
function ignoreUpgrade(
  server: Server,
  { method, url, headers, rawHeaders }: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): void {
  const isLast = /\bclose\b/i.test(headers.connection ?? "");
  let text = `${method} ${url} HTTP/1.1\r\n${isLast ? "Connection: close\r\n" : ""}`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!HOP_HEADERS.has(name.toLowerCase())) text += `${name}: ${rawHeaders[at + 1]}\r\n`;
  }
  stream.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, "latin1"), head]));
  server.emit("connection", stream);
}
