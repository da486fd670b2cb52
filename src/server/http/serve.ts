// The app on a socket: bounded in time and number, and able to end without breaking what is under way.

import { createServer, type ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import { toResponse } from "./problem.ts";

export interface Listening {
  /** `http://127.0.0.1:8000`, with the port that was really taken. */
  readonly url: string;
  /** Stops accepting, waits for the requests under way for so long at most, then ends what is left. */
  close(drainMs: number): Promise<void>;
}

const TIMES: ServerOptions = {
  headersTimeout: 10_000,
  // For a whole upload; one that stands still ends much earlier.
  requestTimeout: 3_600_000,
  keepAliveTimeout: 65_000,
  // Probes the other end, so that a machine that vanished is noticed.
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
};
/** Of every answer. Set here, since whatever touches the headers of a Response makes it several times as slow. */
const SECURITY = [
  ["x-content-type-options", "nosniff"],
  ["cache-control", "no-store"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
] as const;
const DEFAULT_WRITE_MS = 60_000;
const DEFAULT_MAX_CONNECTIONS = 1000;
const MALFORMED = { status: 400, code: "MALFORMED", detail: "The request makes no sense: look at its URL and headers" };

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** A client that takes nothing of its answer for so long is gone. Default: 60 s. */
  readonly writeMs?: number;
  /** What is more is closed as soon as it comes. Default: 1,000. */
  readonly maxConnections?: number;
}

/** Rejects with the error of the system when the address cannot be had. */
export async function listen(
  app: Hono,
  { host, port, writeMs = DEFAULT_WRITE_MS, maxConnections = DEFAULT_MAX_CONNECTIONS }: ListenOptions,
): Promise<Listening> {
  let draining = false;
  const answer = async (request: Request, bindings: unknown): Promise<Response> => {
    const { incoming, outgoing } = bindings as HttpBindings;
    for (const [name, value] of SECURITY) outgoing.setHeader(name, value);
    const response = await app.fetch(request, { incoming, outgoing });
    if (draining) outgoing.setHeader("connection", "close");
    // Counts from here: code may take longer to run than a client may take to read.
    outgoing.setTimeout(writeMs, () => void outgoing.destroy());
    return response;
  };
  const listener = getRequestListener(answer, { hostname: host, errorHandler: () => toResponse(MALFORMED) });
  const server = createServer(TIMES, (incoming, outgoing) => void listener(incoming, outgoing));
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, () => resolve(void server.off("error", reject)));
  });
  return {
    url: toURL(server.address() as AddressInfo),
    close: async (drainMs) => {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const timer = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function toURL({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
