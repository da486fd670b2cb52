// The WebSockets of one server: who is let in, who is still there, and how they go.
//
// A request to become one passes the same guards and the same route as any other, and is answered like any other where it is refused.
// One timer asks all of them for signs of life, a few at a time.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import type { Session } from "../../session/session.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Door, Upgrade } from "../http/server-context.ts";
import type { GuardOptions } from "../net/guards/guarded-app.ts";
import type { Problem } from "../net/problem.ts";
import type { Origin } from "../observability/activity.ts";
import { refuse, type Ask, type Upgrader } from "../net/upgrade.ts";
import { MessageRoom } from "./memory-budget.ts";
import { CLOSE } from "../../protocol/api/web-socket.ts";
import { answerRequest } from "./requests.ts";
import { Watcher } from "./watcher.ts";
import { Watchers } from "./watchers.ts";

export interface WebSocketsOptions extends Pick<GuardOptions, "token" | "onUnexpected"> {
  /** How often a client is asked for a sign of life; one that gave none by the next time is gone. Default: 30 s. */
  readonly beatMs?: number;
  /** What all of them together may hold of messages in both directions. Default: 512 MiB. */
  readonly heldBytes?: number;
  /** Hears of those who had to go because of that, and where they were. Default: nobody. */
  readonly onCut?: (problem: Problem, remote: string) => void;
}

const PATH = /^\/v1\/sessions\/(?<id>[^/?#]+)\/ws(?:\?|$)/;
const DEFAULT_BEAT_MS = 30_000;
const BEAT_PARTS = 30;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const SETTINGS: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  autoPong: false,
  /** How long a client may take to say goodbye. */
  closeTimeout: 10_000,
  handleProtocols: () => false,
};
/** The same when all have to go. */
const GOODBYE_MS = 1000;

export class WebSockets implements Upgrader {
  readonly #door: Door;
  readonly #token: string;
  readonly #onUnexpected: (error: unknown) => void;
  readonly #onCut: (problem: Problem, remote: string) => void;
  readonly #server: WebSocketServer;
  readonly #room: MessageRoom;
  readonly #bySession = new Map<Session, Watchers>();
  /** Everyone, in parts that are asked for a sign of life one after the other. */
  readonly #parts: readonly Set<Watcher>[] = Array.from({ length: BEAT_PARTS }, () => new Set<Watcher>());
  readonly #partMs: number;
  #opened = 0;
  #count = 0;
  #beats = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(door: Door, options: WebSocketsOptions) {
    const { token, onUnexpected = () => {}, onCut = () => {}, beatMs = DEFAULT_BEAT_MS, heldBytes } = options;
    this.#door = door;
    this.#token = token;
    this.#onUnexpected = onUnexpected;
    this.#onCut = onCut;
    this.#room = new MessageRoom(heldBytes);
    this.#partMs = beatMs / BEAT_PARTS;
    this.#server = new WebSocketServer(SETTINGS);
    this.#server.on(
      "wsClientError",
      ({ message }, stream) => void refuse(stream, { ...BAD_HANDSHAKE, detail: message }),
    );
    onAbort(door.draining, () => this.drain());
    onAbort(door.ending, () => this.end());
  }

  /** How many are open. */
  get size(): number {
    return this.#count;
  }

  /** What they hold, where it is more than a little. */
  get heldBytes(): number {
    return this.#room.bytes;
  }

  isFor({ url = "", headers }: IncomingMessage): boolean {
    return headers.upgrade?.toLowerCase() === "websocket" && PATH.test(url);
  }

  upgrade(incoming: IncomingMessage, stream: Duplex, head: Buffer, ask: Ask): void {
    this.#upgrade(incoming, stream, head, ask).catch((error: unknown) => {
      this.#onUnexpected(error);
      stream.destroy();
    });
  }

  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const watchers of this.#bySession.values()) watchers.drain();
  }

  end(): void {
    this.drain();
    const all = this.#parts.flatMap((part) => [...part]);
    for (const watcher of all) watcher.close(CLOSE.serverEnd, "the server ends");
    setTimeout(() => {
      for (const watcher of all) watcher.terminate();
    }, GOODBYE_MS).unref();
  }

  async #upgrade(incoming: IncomingMessage, stream: Duplex, head: Buffer, ask: Ask): Promise<void> {
    const { request, hasBadTicket } = this.#toRequest(incoming);
    const upgrade: Upgrade = {};
    this.#door.upgrades.set(request, upgrade);
    const response = await ask(request, incoming);
    const { session, requestId: connectionId = "" } = upgrade;
    if (session === undefined) return refuse(stream, hasBadTicket && response.status === 401 ? BAD_TICKET : response);
    this.#server.handleUpgrade(incoming, stream, head, (webSocket) =>
      this.#open(webSocket, stream, session, { connectionId }),
    );
  }

  /** As the routes know requests: with the token where there was a ticket for it, which nobody sees again. */
  #toRequest(incoming: IncomingMessage): { readonly request: Request; readonly hasBadTicket: boolean } {
    const url = new URL(`http://localhost${incoming.url}`);
    const headers = toHeaders(incoming);
    const ticket = url.searchParams.get("ticket");
    if (ticket === null) return { request: new Request(url, { headers }), hasBadTicket: false };
    url.searchParams.delete("ticket");
    const sessionId = decode(PATH.exec(incoming.url ?? "")?.groups?.["id"] ?? "");
    const isGood = this.#door.tickets.take(ticket, sessionId);
    headers.delete("authorization");
    if (isGood) headers.set("authorization", `Bearer ${this.#token}`);
    return { request: new Request(url, { headers }), hasBadTicket: !isGood };
  }

  #open(webSocket: WebSocket, stream: Duplex, session: Session, origin: Origin): void {
    if (session.state === "closed" || this.#isDraining) {
      webSocket.on("error", () => {});
      webSocket.close(session.state === "closed" ? CLOSE.sessionEnd : CLOSE.serverEnd);
      return;
    }
    const watchers = this.#watchersOf(session);
    const { remoteAddress = "" } = stream as Partial<Socket>;
    const watcher = new Watcher(webSocket, stream, {
      session,
      room: this.#room,
      answer: (message, self) => answerRequest(message, { watcher: self, session, origin, door: this.#door }),
      onUnexpected: this.#onUnexpected,
      onRead: () => watchers.dismiss(),
      onDismiss: () => this.#onCut(TOO_MUCH_HELD, remoteAddress),
    });
    watchers.add(watcher);
    const part = this.#parts[this.#opened % BEAT_PARTS];
    this.#opened += 1;
    this.#count += 1;
    part?.add(watcher);
    this.#timer ??= setInterval(() => this.#beat(), this.#partMs).unref();
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

  #beat(): void {
    this.#beats += 1;
    for (const watcher of this.#parts[this.#beats % BEAT_PARTS] ?? []) watcher.beat();
  }
}

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return headers;
}

/** As the routes read it; what cannot be read is nobody's. */
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
