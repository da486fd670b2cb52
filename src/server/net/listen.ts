// Serves an app on a socket: with limits on time and connections, and a graceful shutdown.

import { createServer, type Server, type ServerOptions } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { isUploading, lingerOnClose } from "./linger.ts";
import { toResponse, type Problem } from "./problem.ts";
import { Expectations } from "./guards/expectations.ts";
import { FLOOD, MALFORMED, refuseMalformed, toMalformed } from "./guards/refuse-malformed.ts";
import { handleUpgrades, type Upgrader } from "./upgrade.ts";

export interface HTTPListener {
  /** `http://127.0.0.1:8000`, with the actual port. */
  readonly url: string;
  /** From now on every response closes its connection. */
  drain(): void;
  /** Stops accepting, waits this long for open requests, then closes all connections. */
  close(drainMs: number): Promise<void>;
}

const OPTIONS: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  // Node's own response would not be a problem document. The guards check the header.
  requireHostHeader: false,
  keepAliveTimeout: 65_000,
  // Detects clients that have vanished.
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
};
/** Of every response. Set on the raw response: touching the headers of a Response makes it several times as slow. */
const SECURITY = [
  ["x-content-type-options", "nosniff"],
  ["cache-control", "no-store"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
] as const;
const HEADERS_MS = 10_000;
const DEFAULT_REQUEST_MS = 3_600_000;
const DEFAULT_CHECK_MS = 5_000;
const DEFAULT_WRITE_MS = 60_000;
export const DEFAULT_MAX_CONNECTIONS = 10_000;
/** Pipelined requests on one connection. More would starve all others. */
const MAX_UNANSWERED = 100;
/** How often idle connections are closed during shutdown. */
const IDLE_CHECK_MS = 50;

export interface ListenOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The time in which a request must arrive with its body. Default: an hour, for large uploads. */
  readonly requestMs?: number;
  /** How often that is checked. Default: 5 s. */
  readonly checkMs?: number;
  /** A client that reads nothing of its response for this long is disconnected. Default: 60 s. */
  readonly writeMs?: number;
  /** More are closed at once. Default: 10,000. */
  readonly maxConnections?: number;
  /** Default: no upgrades. */
  readonly upgrader?: Upgrader;
  /** Called when something that is not HTTP arrives. Default: ignored. */
  readonly onMalformed?: (problem: Problem, remote: string) => void;
  /** Called when a connection is closed without a response. Default: ignored. */
  readonly onCut?: (problem: Problem, remote: string) => void;
}

export interface FetchHandler {
  fetch(
    request: Request,
    bindings: Pick<HttpBindings, "incoming"> & Partial<HttpBindings>,
  ): Response | Promise<Response>;
}

/** Rejects with the system's error when the address is not available. */
export async function listen(app: FetchHandler, options: ListenOptions): Promise<HTTPListener> {
  const { host, port, requestMs = DEFAULT_REQUEST_MS, writeMs = DEFAULT_WRITE_MS } = options;
  const { maxConnections = DEFAULT_MAX_CONNECTIONS, checkMs = DEFAULT_CHECK_MS } = options;
  const { onMalformed = () => {}, onCut = () => {} } = options;
  let draining = false;
  const respond = async (request: Request, env: unknown): Promise<Response> => {
    const bindings = env as HttpBindings;
    const { incoming, outgoing } = bindings;
    for (const [name, value] of SECURITY) outgoing.setHeader(name, value);
    if (incoming.url?.startsWith("/") !== true) {
      // An absolute URL names a second host. Only proxies send one, so it is refused rather than checked.
      onMalformed(MALFORMED, incoming.socket.remoteAddress ?? "");
      return toResponse(MALFORMED);
    }
    const response = await app.fetch(request, bindings);
    const isRefused = response.status >= 400 && isUploading(incoming); // Node would read all of the body
    if (draining || isRefused || expectations.isWaiting(incoming)) outgoing.setHeader("connection", "close");
    lingerOnClose(incoming);
    // Set only now: code may run longer than a client may take to read.
    outgoing.setTimeout(writeMs, () => void outgoing.destroy());
    return response;
  };
  const listener = getRequestListener(respond, { hostname: host, errorHandler: () => toResponse(MALFORMED) });
  const times = {
    headersTimeout: Math.min(HEADERS_MS, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
  };
  const server = createServer({ ...OPTIONS, ...times });
  server.maxConnections = maxConnections;
  server.on("drop", (dropped) => onCut(TOO_MANY_CONNECTIONS, dropped?.remoteAddress ?? ""));
  const expectations = new Expectations(server);
  refuseInvalid(server, options);
  server.on("request", (incoming, outgoing) => {
    // Node continues to parse what a closed connection had received.
    if (!incoming.socket.destroyed) void listener(incoming, outgoing);
  });
  const { upgrader } = options;
  if (upgrader !== undefined) handleUpgrades(server, upgrader, (request, incoming) => app.fetch(request, { incoming }));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, () => resolve(void server.off("error", reject)));
  });
  return {
    url: toURL(server.address() as AddressInfo),
    drain: () => void (draining = true),
    close: async (drainMs) => {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
      upgrader?.drain();
      const timer = setTimeout(() => {
        upgrader?.close();
        server.closeAllConnections();
      }, drainMs);
      await closed;
      clearInterval(idle);
      clearTimeout(timer);
    },
  };
}

/** Refuses requests that cannot be parsed, CONNECT, and pipelines that are too long. */
function refuseInvalid(server: Server, { onMalformed = () => {} }: ListenOptions): void {
  const pending = new WeakMap<Socket, number>();
  server.on("request", ({ socket }, outgoing) => {
    const unanswered = (pending.get(socket) ?? 0) + 1;
    pending.set(socket, unanswered);
    if (unanswered === MAX_UNANSWERED) {
      onMalformed(FLOOD, socket.remoteAddress ?? "");
      socket.destroy();
    }
    outgoing.once("close", () => pending.set(socket, (pending.get(socket) ?? 1) - 1));
  });
  const refuse = (socket: Socket, problem: Problem | undefined): void => {
    if (problem !== undefined) onMalformed(problem, socket.remoteAddress ?? "");
    refuseMalformed(socket, problem, (pending.get(socket) ?? 0) > 0);
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuse(socket as Socket, toMalformed(error)));
  server.on("connect", (_request, socket) => refuse(socket as Socket, MALFORMED));
}

function toURL({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

const TOO_MANY_CONNECTIONS: Problem = {
  status: 503,
  code: "TOO_MANY_CONNECTIONS",
  detail: "The limit on connections is reached",
};
