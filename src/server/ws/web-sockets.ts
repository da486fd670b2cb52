// The WebSockets of one server: upgrade, heartbeat and shutdown.
//
// An upgrade request passes the same guards and routes as any other request, and is refused like any other. One timer pings all sockets, a
// few at a time.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import type { Session } from "../../session/session.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import type { ServerContext, Upgrade } from "../context/server-context.ts";
import type { GuardOptions } from "../net/guards/guarded-app.ts";
import type { Problem } from "../net/problem.ts";
import type { ActivityOrigin } from "../observability/activity-tracker.ts";
import { refuse, type RequestHandler, type Upgrader } from "../net/upgrade.ts";
import { MemoryBudget, MESSAGE_MEMORY } from "../net/memory-budget.ts";
import { CLOSE } from "../../protocol/api/web-socket.ts";
import { handleRequest } from "./requests.ts";
import { Watcher } from "./watcher.ts";
import { Watchers } from "./watchers.ts";

export interface WebSocketsOptions extends Pick<GuardOptions, "token" | "onUnexpected"> {
  /** Between two pings of a client; one that gave no sign of life by the next is gone. Default: 30 s. */
  readonly heartbeatMs?: number;
  /** Memory budget of all sockets for messages in both directions. Default: 512 MiB. */
  readonly maxHeldBytes?: number;
  /** Called when a socket is closed to free memory. Default: ignored. */
  readonly onCut?: (problem: Problem, remote: string) => void;
}

const PATH = /^\/v1\/sessions\/(?<id>[^/?#]+)\/ws(?:\?|$)/;
const DEFAULT_HEARTBEAT_MS = 30_000;
const HEARTBEAT_PARTS = 30;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const SETTINGS: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  autoPong: false,
  /** How long a client may take to complete the closing handshake. */
  closeTimeout: 10_000,
  handleProtocols: () => false,
};
/** The same when the server closes. */
const CLOSE_MS = 1000;

export class WebSockets implements Upgrader {
  readonly #context: ServerContext;
  readonly #token: string;
  readonly #onUnexpected: (error: unknown) => void;
  readonly #onCut: (problem: Problem, remote: string) => void;
  readonly #server: WebSocketServer;
  readonly #memory: MemoryBudget;
  readonly #bySession = new Map<Session, Watchers>();
  /** All watchers, in groups that are pinged one after the other. */
  readonly #parts: readonly Set<Watcher>[] = Array.from({ length: HEARTBEAT_PARTS }, () => new Set<Watcher>());
  readonly #partMs: number;
  #opened = 0;
  #count = 0;
  #heartbeats = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(context: ServerContext, options: WebSocketsOptions) {
    const { token, onUnexpected = () => {}, onCut = () => {} } = options;
    const { heartbeatMs = DEFAULT_HEARTBEAT_MS, maxHeldBytes } = options;
    this.#context = context;
    this.#token = token;
    this.#onUnexpected = onUnexpected;
    this.#onCut = onCut;
    this.#memory = new MemoryBudget({ ...MESSAGE_MEMORY, ...omitUndefined({ maxBytes: maxHeldBytes }) });
    this.#partMs = heartbeatMs / HEARTBEAT_PARTS;
    this.#server = new WebSocketServer(SETTINGS);
    this.#server.on(
      "wsClientError",
      ({ message }, stream) => void refuse(stream, { ...BAD_HANDSHAKE, detail: message }),
    );
    onAbort(context.draining, () => this.drain());
    onAbort(context.closing, () => this.close());
  }

  get size(): number {
    return this.#count;
  }

  /** Of messages, small ones aside. */
  get heldBytes(): number {
    return this.#memory.usedBytes;
  }

  accepts({ url = "", headers }: IncomingMessage): boolean {
    return headers.upgrade?.toLowerCase() === "websocket" && PATH.test(url);
  }

  upgrade(incoming: IncomingMessage, stream: Duplex, head: Buffer, respond: RequestHandler): void {
    this.#upgrade(incoming, stream, head, respond).catch((error: unknown) => {
      this.#onUnexpected(error);
      stream.destroy();
    });
  }

  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const watchers of this.#bySession.values()) watchers.drain();
  }

  close(): void {
    this.drain();
    const all = this.#parts.flatMap((part) => [...part]);
    for (const watcher of all) watcher.close(CLOSE.serverEnd, "the server ends");
    setTimeout(() => {
      for (const watcher of all) watcher.terminate();
    }, CLOSE_MS).unref();
  }

  async #upgrade(incoming: IncomingMessage, stream: Duplex, head: Buffer, respond: RequestHandler): Promise<void> {
    const { request, hasBadTicket } = this.#toRequest(incoming);
    const upgrade: Upgrade = {};
    this.#context.upgrades.set(request, upgrade);
    const response = await respond(request, incoming);
    const { session, requestId: connectionId = "" } = upgrade;
    if (session === undefined) return refuse(stream, hasBadTicket && response.status === 401 ? BAD_TICKET : response);
    this.#server.handleUpgrade(incoming, stream, head, (webSocket) =>
      this.#open(webSocket, stream, session, { connectionId }),
    );
  }

  /** For the routes: a valid ticket is replaced by the token, and no ticket is passed on. */
  #toRequest(incoming: IncomingMessage): { readonly request: Request; readonly hasBadTicket: boolean } {
    const url = new URL(`http://localhost${incoming.url}`);
    const headers = toHeaders(incoming);
    const ticket = url.searchParams.get("ticket");
    if (ticket === null) return { request: new Request(url, { headers }), hasBadTicket: false };
    url.searchParams.delete("ticket");
    const sessionId = decode(PATH.exec(incoming.url ?? "")?.groups?.["id"] ?? "");
    const isGood = this.#context.tickets.take(ticket, sessionId);
    headers.delete("authorization");
    if (isGood) headers.set("authorization", `Bearer ${this.#token}`);
    return { request: new Request(url, { headers }), hasBadTicket: !isGood };
  }

  #open(webSocket: WebSocket, stream: Duplex, session: Session, origin: ActivityOrigin): void {
    if (session.state === "closed" || this.#isDraining) {
      webSocket.on("error", () => {});
      webSocket.close(session.state === "closed" ? CLOSE.sessionEnd : CLOSE.serverEnd);
      return;
    }
    const watchers = this.#watchersOf(session);
    const { remoteAddress = "" } = stream as Partial<Socket>;
    const watcher = new Watcher(webSocket, stream, {
      session,
      memory: this.#memory,
      handle: (message, self) => handleRequest(message, { watcher: self, session, origin, context: this.#context }),
      onUnexpected: this.#onUnexpected,
      onReplayed: () => watchers.closeIdle(),
      onDismiss: () => this.#onCut(TOO_MUCH_HELD, remoteAddress),
    });
    watchers.add(watcher);
    const part = this.#parts[this.#opened % HEARTBEAT_PARTS];
    this.#opened += 1;
    this.#count += 1;
    part?.add(watcher);
    this.#timer ??= setInterval(() => this.#heartbeat(), this.#partMs).unref();
    webSocket.once("close", () => {
      part?.delete(watcher);
      this.#count -= 1;
      watchers.delete(watcher);
      if (this.#count > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #watchersOf(session: Session): Watchers {
    const known = this.#bySession.get(session);
    if (known !== undefined) return known;
    const watchers = new Watchers(session, () => this.#bySession.delete(session));
    this.#bySession.set(session, watchers);
    return watchers;
  }

  #heartbeat(): void {
    this.#heartbeats += 1;
    for (const watcher of this.#parts[this.#heartbeats % HEARTBEAT_PARTS] ?? []) watcher.heartbeat();
  }
}

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  return new Headers(
    Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  );
}

/** Decodes as the router does. Empty: it cannot be decoded, and matches nothing. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

const BAD_HANDSHAKE: Problem = {
  status: 400,
  code: "BAD_HANDSHAKE",
  detail: "",
  headers: { "sec-websocket-version": "13" },
};
const BAD_TICKET: Problem = {
  status: 401,
  code: "BAD_TICKET",
  detail: "The ticket is not good: it was used, is older than 30 seconds, or is for another session",
};
const TOO_MUCH_HELD: Problem = {
  status: 503,
  code: "TOO_MUCH_HELD",
  detail: "The server holds too much for all its WebSockets",
};
