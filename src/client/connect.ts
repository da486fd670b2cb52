// Connects to a server, after a look at whether it is one.

import { checkFunction, checkOptions, checkTimes, optionNames } from "../api/checks/check-options.ts";
import type { Runtime } from "../api/runtime.ts";
import type { Fetch, URLLike } from "../api/web-types.ts";
import { Connection, otherProtocol, PROTOCOL } from "./net/connection.ts";
import { systemClock, type Clock } from "./net/clock.ts";
import { notOurs, TemporaryFailure } from "./net/failure.ts";
import { readBytes, toJSON } from "./net/read-body.ts";
import { Requests } from "./net/requests.ts";
import type { WebSocketConstructor } from "./net/web-socket.ts";
import { RemoteRuntime } from "./runtime.ts";
import { object, string } from "./shapes/check.ts";
import { runtimeInfo } from "./shapes/sessions.ts";
import { CallOrders } from "./work/call-order.ts";

/** How to reach a server. */
export interface ConnectOptions {
  /** `http` or `https`; a path is kept. */
  readonly url: string | URLLike;
  /** The server's token, or what returns the one to use now: it is asked before each request. */
  readonly token: string | (() => string | Promise<string>);
  /** Sends requests. Default: the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
  /**
   * Opens the connections of `session.subscribe`. Default: the platform's. Node 20 has none: give the one of the package `ws`. An open one
   * does not keep a Node process alive if it comes from `ws`; Node's own does until the subscription is disposed.
   */
  readonly WebSocket?: WebSocketConstructor | undefined;
  /** When to give up. */
  readonly retry?:
    | {
        /** How long to try again without any progress. Default: 60 s. */
        readonly maxElapsedMs?: number | undefined;
      }
    | undefined;
  /** Told when a connection fails and is tried again. Default: nobody. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

const OPTIONS = optionNames<ConnectOptions>({
  url: true,
  token: true,
  fetch: true,
  WebSocket: true,
  retry: true,
  onWarning: true,
});
const DEFAULT_MAX_ELAPSED_MS = 60_000;
const MAX_VERSION_BYTES = 1024 * 1024;

/**
 * The runtime of a server. Wrong options throw at once. Rejects with a ServerConnectionError where the address or the token is wrong, or nobody answers. Closing it ends
 * the connection only; sessions and work go on.
 */
export function connectRuntime(options: ConnectOptions): Promise<Runtime> {
  return connectWith(options, systemClock);
}

/** For tests, which bring their own time. */
export function connectWith(options: ConnectOptions, clock: Clock): Promise<Runtime> {
  return connect(new Connection(toConnection(options, clock)), options);
}

async function connect(connection: Connection, options: ConnectOptions): Promise<Runtime> {
  await checkServer(connection);
  const WebSocket = options.WebSocket ?? (globalThis as { readonly WebSocket?: WebSocketConstructor }).WebSocket;
  return new RemoteRuntime({ requests: new Requests(connection), orders: new CallOrders(), WebSocket });
}

function toConnection(options: ConnectOptions, clock: Clock): ConstructorParameters<typeof Connection>[0] {
  checkOptions("connectRuntime", options ?? null, OPTIONS);
  const { url, token, fetch = globalThis.fetch, WebSocket, retry, onWarning = () => {} } = options;
  for (const [name, value] of Object.entries({ fetch, WebSocket, onWarning })) checkFunction(name, value);
  checkOptions("connectRuntime retry", retry, ["maxElapsedMs"]);
  checkTimes({ maxElapsedMs: retry?.maxElapsedMs });
  if (typeof token !== "string" && typeof token !== "function") {
    throw new TypeError("Cannot connect: the token must be a string, or a function that returns one");
  }
  return {
    url: toAddress(url),
    token: typeof token === "string" ? () => token : token,
    fetch: (input, init) => fetch(input, init),
    clock,
    maxElapsedMs: retry?.maxElapsedMs ?? DEFAULT_MAX_ELAPSED_MS,
    onWarning,
  };
}

/** The address may hold a password, so no message quotes it. */
function toAddress(url: unknown): string {
  const text: unknown = typeof url === "string" ? url : (url as Partial<URLLike> | null | undefined)?.href;
  if (typeof text !== "string") throw new TypeError("Cannot connect: give the url of a server");
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new TypeError("Cannot connect: the url must be an address such as http://127.0.0.1:8000");
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new TypeError("Cannot connect: the url must not have a user or a password. Give the token as an option");
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, "");
}

/** Waits for a server that is starting or overloaded, but not for one that cannot be reached. */
async function checkServer(connection: Connection): Promise<void> {
  const backoff = connection.backoff();
  for (;;) {
    try {
      const { response, toFailure, close } = await connection.attempt("GET", "/v1/version");
      const version: unknown = await readBytes(response, connection.clock, MAX_VERSION_BYTES)
        .then(toJSON, (error: unknown) => {
          throw toFailure(error);
        })
        .finally(close);
      const isVersion = object({ version: string, environment: string })(version);
      const { protocol = 0 } = (version ?? {}) as { readonly protocol?: unknown };
      if (isVersion && protocol !== PROTOCOL) throw otherProtocol(connection.url, protocol);
      if (!runtimeInfo(version)) {
        const type = response.headers.get("content-type")?.slice(0, 100) ?? "nothing";
        throw notOurs(connection.url, `it answered ${response.status} ${type}`);
      }
      return;
    } catch (error) {
      if (!(error instanceof TemporaryFailure)) throw error;
      if (error.retryAfterMs === 0) throw error.error;
      await backoff.wait(error, []);
    }
  }
}
