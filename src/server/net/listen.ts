// The app on a socket: bounded in time and number, and able to end without breaking what is under way.

import { createServer, type Server, type ServerOptions } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { toResponse, type Problem } from "./problem.ts";
import { Expectations } from "./guards/expectations.ts";
import { FLOOD, MALFORMED, refuseMalformed, toMalformed } from "./guards/refuse-malformed.ts";
import { handleUpgrades, type Upgrader } from "./upgrade.ts";

export interface Listening {
  /** `http://127.0.0.1:8000`, with the port that was really taken. */
  readonly url: string;
  /** From now on every answer says that its connection ends with it. */
  drain(): void;
  /** Stops accepting, waits for the requests under way for so long at most, then ends what is left. */
  close(drainMs: number): Promise<void>;
}

const OPTIONS: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  // Node's own answer would not be a problem. Who may ask is checked here.
  requireHostHeader: false,
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
const HEADERS_MS = 10_000;
const DEFAULT_REQUEST_MS = 3_600_000;
const DEFAULT_CHECK_MS = 5_000;
const DEFAULT_WRITE_MS = 60_000;
export const DEFAULT_MAX_CONNECTIONS = 10_000;
/** Of one connection. Whoever sends so many without an answer to one of them does nothing else, and nobody else would have a turn. */
const MAX_UNANSWERED = 100;
/** Connections that fall idle while the server closes are closed after so long at most. */
const IDLE_CHECK_MS = 50;

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** A request that takes longer to arrive, with its body, is given up. Default: an hour, for a large upload. */
  readonly requestMs?: number;
  /** How often connections are looked at for that. Default: 5 s. */
  readonly checkMs?: number;
  /** A client that takes nothing of its answer for so long is gone. Default: 60 s. */
  readonly writeMs?: number;
  /** What is more is closed as soon as it comes. Default: 10,000. */
  readonly maxConnections?: number;
  /** What makes WebSockets of connections. Default: nothing does. */
  readonly upgrader?: Upgrader;
  /** Hears of what was no HTTP, and from where it came. Default: nobody. */
  readonly onMalformed?: (problem: Problem, remote: string) => void;
  /** Hears of connections that were ended without a word. Default: nobody. */
  readonly onCut?: (problem: Problem, remote: string) => void;
}

export interface Served {
  fetch(
    request: Request,
    bindings: Pick<HttpBindings, "incoming"> & Partial<HttpBindings>,
  ): Response | Promise<Response>;
}

/** Rejects with the error of the system when the address cannot be had. */
export async function listen(app: Served, options: ListenOptions): Promise<Listening> {
  const { host, port, requestMs = DEFAULT_REQUEST_MS, writeMs = DEFAULT_WRITE_MS } = options;
  const { maxConnections = DEFAULT_MAX_CONNECTIONS, checkMs = DEFAULT_CHECK_MS } = options;
  const { onMalformed = () => {}, onCut = () => {} } = options;
  let draining = false;
  const answer = async (request: Request, env: unknown): Promise<Response> => {
    const bindings = env as HttpBindings;
    const { incoming, outgoing } = bindings;
    for (const [name, value] of SECURITY) outgoing.setHeader(name, value);
    if (incoming.url?.startsWith("/") !== true) {
      // A whole URL names a host, too, and nobody but a proxy sends one: there is no second name to check.
      onMalformed(MALFORMED, incoming.socket.remoteAddress ?? "");
      return toResponse(MALFORMED);
    }
    const response = await app.fetch(request, bindings);
    if (draining || expectations.isWaiting(incoming)) outgoing.setHeader("connection", "close");
    // Counts from here: code may take longer to run than a client may take to read.
    outgoing.setTimeout(writeMs, () => void outgoing.destroy());
    return response;
  };
  const listener = getRequestListener(answer, { hostname: host, errorHandler: () => toResponse(MALFORMED) });
  const times = {
    headersTimeout: Math.min(HEADERS_MS, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
  };
  const server = createServer({ ...OPTIONS, ...times });
  server.maxConnections = maxConnections;
  server.on("drop", (dropped) => onCut(TOO_MANY_CONNECTIONS, dropped?.remoteAddress ?? ""));
  const expectations = new Expectations(server);
  refuseWhatIsNone(server, options);
  server.on("request", (incoming, outgoing) => {
    // What else had come on a connection that was cut is parsed all the same.
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
        upgrader?.end();
        server.closeAllConnections();
      }, drainMs);
      await closed;
      clearInterval(idle);
      clearTimeout(timer);
    },
  };
}

/** Requests that cannot be parsed, methods that are no requests to us, and more at once than anybody means. */
function refuseWhatIsNone(server: Server, { onMalformed = () => {} }: ListenOptions): void {
  const answering = new WeakMap<Socket, number>();
  server.on("request", ({ socket }, outgoing) => {
    const unanswered = (answering.get(socket) ?? 0) + 1;
    answering.set(socket, unanswered);
    if (unanswered === MAX_UNANSWERED) {
      onMalformed(FLOOD, socket.remoteAddress ?? "");
      socket.destroy();
    }
    outgoing.once("close", () => answering.set(socket, (answering.get(socket) ?? 1) - 1));
  });
  const refuse = (socket: Socket, problem: Problem | undefined): void => {
    if (problem !== undefined) onMalformed(problem, socket.remoteAddress ?? "");
    refuseMalformed(socket, problem, (answering.get(socket) ?? 0) > 0);
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
  detail: "There are as many connections as may be",
};
