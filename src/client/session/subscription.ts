// A subscription to a session over a WebSocket, which is opened again when it is lost.
//
// Events of executions come in order, none twice and none lost. Others, such as background output, may be missed while the connection is
// lost. An execution that runs when listening begins is received from its start.

import type { SessionListener, Subscription } from "../../api/session.ts";
import { SessionClosedError } from "../../errors.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { configurationError, connectionError, TemporaryFailure } from "../net/failure.ts";
import { percentEncode } from "../net/ids.ts";
import { unrefSocket, type WebSocketConstructor, type WebSocketLike } from "../net/web-socket.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { array, object, string } from "../shapes/check.ts";
import { historyEntry } from "../shapes/executions.ts";
import { sessionEvent } from "../shapes/session-events.ts";
import { sessionInfo } from "../shapes/sessions.ts";
import { CatchUp } from "./catch-up.ts";
import type { Server } from "./server.ts";

const OPEN = 1;
const PING_MS = 15_000;
const SILENCE_MS = 45_000;
const MAX_MESSAGE_CHARACTERS = 256 * 1024 * 1024;
/** The server's close code. */
const SESSION_END = 4404;
/** The id of requests for replays, of which one at a time is under way. */
const FOLLOW = "follow";

type Message = Readonly<Record<string, unknown>> & { readonly type: string };

export class RemoteSubscription implements Subscription {
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly #server: Server;
  readonly #path: string;
  readonly #listener: SessionListener;
  readonly #catchUp: CatchUp;
  readonly #disposing = new AbortController();
  #settleReady: (error?: unknown) => void;
  #settleEnded: (error?: unknown) => void;
  #isOver = false;
  #wasReady = false;
  #socket: WebSocketLike | undefined;

  constructor(server: Server, id: SessionId, listener: SessionListener) {
    this.#server = server;
    this.#path = `/v1/sessions/${percentEncode(id)}`;
    this.#listener = listener;
    this.#catchUp = new CatchUp({
      follow: (executionId, after) => this.#send({ type: "follow", id: FOLLOW, executionId, after }),
      deliver: (event) => this.#deliver(event),
    });
    [this.ready, this.#settleReady] = deferred();
    [this.ended, this.#settleEnded] = deferred();
  }

  /** Once. */
  open(): this {
    this.#run(this.#server.WebSocket).then(
      () => this.#end(),
      (error: unknown) => this.#end(error),
    );
    return this;
  }

  [Symbol.dispose](): void {
    this.#disposing.abort();
    this.#socket?.close();
    this.#end();
  }

  #end(error?: unknown): void {
    this.#settleReady(error ?? new Error("Cannot listen: the subscription ended before it began"));
    this.#settleEnded(error instanceof SessionClosedError ? undefined : error);
  }

  async #run(WebSocket: WebSocketConstructor | undefined): Promise<void> {
    const { connection } = this.#server.requests;
    if (WebSocket === undefined) {
      const why =
        "Cannot subscribe: this platform has no WebSocket. Use Node 22 or newer, or give the one of the package 'ws' as the option WebSocket of connectRuntime";
      throw configurationError(connection.url, why);
    }
    const backoff = connection.backoff();
    const signals = [connection.closing, this.#disposing.signal];
    for (;;) {
      let failure: TemporaryFailure;
      const beganAt = connection.clock.now();
      try {
        const { code } = await this.#connect(WebSocket, () => backoff.reset());
        if (this.#isOver || this.#disposing.signal.aborted || code === SESSION_END) return;
        connection.closing.throwIfAborted();
        // A socket does not tell why it was refused.
        await this.#server.requests.json("GET", this.#path, sessionInfo, { signal: this.#disposing.signal });
        failure = new TemporaryFailure(
          connectionError(connection.url, `The WebSocket to ${connection.url} was closed (${code ?? "no code"})`),
        );
        if (this.#wasReady && (await connection.wasWaiting(failure, beganAt))) backoff.reset();
      } catch (error) {
        if (this.#disposing.signal.aborted) return;
        if (error instanceof SessionClosedError && this.#wasReady) return;
        if (!(error instanceof TemporaryFailure)) throw error;
        failure = error;
      }
      await backoff.wait(failure, signals, this.#wasReady);
      if (this.#disposing.signal.aborted) return;
    }
  }

  /** Resolves when the socket has closed. */
  async #connect(
    WebSocket: WebSocketConstructor,
    onProgress: () => void,
  ): Promise<{ readonly code?: number | undefined }> {
    const { requests } = this.#server;
    const { connection } = requests;
    const { ticket } = await requests.json("POST", "/v1/tickets", object({ ticket: string }), {
      json: { sessionId: decodeURIComponent(this.#path.slice("/v1/sessions/".length)) },
      signal: this.#disposing.signal,
    });
    const address = `${connection.url.replace(/^http/, "ws")}${this.#path}/ws?ticket=${percentEncode(ticket)}`;
    const socket = new WebSocket(address);
    this.#socket = socket;
    let heardAt = connection.clock.now();
    let stopPinging = (): void => {};
    const ping = (): void => {
      if (connection.clock.now() - heardAt > SILENCE_MS) return socket.close();
      if (socket.readyState === OPEN) this.#send({ type: "ping" });
      stopPinging = connection.clock.start(PING_MS, ping, { isIdle: true });
    };
    const close = (): void => socket.close();
    connection.closing.addEventListener("abort", close, { once: true });
    try {
      return await new Promise((resolve) => {
        ping(); // also while it opens, which may take for ever
        socket.addEventListener("open", () => this.#send({ type: "ping" }));
        socket.addEventListener("message", ({ data }) => {
          heardAt = connection.clock.now();
          const message = toMessage(data);
          if (message === undefined) return socket.close();
          // Not earlier: somebody may wait for `ready`, and a process must not end meanwhile.
          if (message.type === "hello") unrefSocket(socket);
          else onProgress();
          this.#onMessage(message);
          return undefined;
        });
        socket.addEventListener("error", () => {});
        socket.addEventListener("close", ({ code }) => resolve({ code }));
      });
    } finally {
      stopPinging();
      connection.closing.removeEventListener("abort", close);
      this.#socket = undefined;
    }
  }

  #onMessage(message: Message): void {
    switch (message.type) {
      case "hello":
        return void this.#onHello(message["running"]);
      case "reply":
        if (message["id"] === FOLLOW) this.#catchUp.onReply(message["ok"] === true);
        return;
      case "follow-end":
        return this.#catchUp.onReplayed();
      case "lagged": {
        const { executions } = message;
        if (array(string)(executions)) this.#catchUp.replay(executions);
        return;
      }
      default: {
        const { cursor, ...event } = message;
        if (sessionEvent(event)) this.#catchUp.onEvent(event, typeof cursor === "string" ? cursor : undefined);
      }
    }
  }

  async #onHello(running: unknown): Promise<void> {
    const current = typeof running === "string" ? [running] : [];
    if (!this.#wasReady) {
      this.#wasReady = true;
      this.#catchUp.restart(current);
      this.#settleReady();
      return;
    }
    this.#catchUp.hold();
    const socket = this.#socket;
    try {
      const check = object({ executions: array(historyEntry) });
      const { executions } = await this.#server.requests.json("GET", `${this.#path}/executions`, check, {
        isLarge: true,
      });
      const missed = executions.filter((entry) => this.#catchUp.isMissing(entry));
      if (this.#socket === socket) this.#catchUp.restart(missed.map(({ executionId }) => executionId));
    } catch {
      socket?.close();
    }
  }

  #deliver(event: Parameters<SessionListener>[0]): void {
    if (this.#disposing.signal.aborted || this.#isOver) return;
    if (event.type === "session-end") this.#isOver = true;
    try {
      this.#listener(event);
    } catch (error) {
      // The subscription continues, and the listener's error is reported as uncaught.
      queueMicrotask(() => {
        throw error;
      });
    }
    if (this.#isOver) this.#socket?.close();
  }

  #send(message: object): void {
    if (this.#socket?.readyState === OPEN) this.#socket.send(JSON.stringify(message));
  }
}

/** A promise that raises nothing when nobody observes it, and what settles it: with an error, or without. */
function deferred(): [Promise<void>, (error?: unknown) => void] {
  let settle: (error?: unknown) => void = () => {};
  const promise = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  promise.catch(() => {});
  return [promise, settle];
}

/** Undefined: it is none of ours. */
function toMessage(data: unknown): Message | undefined {
  if (typeof data !== "string" || data.length > MAX_MESSAGE_CHARACTERS) return undefined;
  const message = parseJSON(data);
  return object({ type: string })(message) ? message : undefined;
}
