// Upgrade requests: handed to the upgrader that wants them, or served as if they did not ask for an upgrade.

import { STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { toResponse, type Problem } from "./problem.ts";

export interface Upgrader {
  /** Whether it handles this request. */
  accepts(incoming: IncomingMessage): boolean;
  /** `respond` runs the routes. */
  upgrade(incoming: IncomingMessage, stream: Duplex, head: Buffer, respond: RequestHandler): void;
  /** Shutdown begins: closes idle connections. */
  drain(): void;
  /** Closes all connections. */
  close(): void;
}

export type RequestHandler = (request: Request, incoming: IncomingMessage) => Response | Promise<Response>;

/** How long a refused client may take to read why. */
const LINGER_MS = 1000;
const HOP_HEADERS = new Set(["connection", "upgrade", "http2-settings"]);

export function handleUpgrades(server: Server, upgrader: Upgrader, respond: RequestHandler): void {
  server.on("upgrade", (incoming, stream, head) => {
    if (!upgrader.accepts(incoming)) {
      ignoreUpgrade(server, incoming, stream, head);
      return;
    }
    stream.on("error", () => {}); // the client has disconnected
    upgrader.upgrade(incoming, stream, head, respond);
  });
}

/** Writes a response to the raw socket and ends the connection. */
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
 * A server may ignore an upgrade, and some clients offer one with every request. Node has detached the connection by now, so the same
 * request is replayed to it without the upgrade headers.
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
