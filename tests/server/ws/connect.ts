// A server on a socket of its own, and clients of it, for tests of WebSockets.

import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect as connectSocket, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { WebSocket, type ClientOptions } from "ws";
import type { Runtime } from "../../internals.ts";
import { createServerContext, type ServerContextOptions } from "../../../src/server/create-context.ts";
import { createApp } from "../../../src/server/http/app.ts";
import type { AnsweredRequest } from "../../../src/server/net/guards/guarded-app.ts";
import type { Problem } from "../../../src/server/net/problem.ts";
import { problem } from "../../../src/protocol/api/problem.ts";
import { serverMessage } from "../../../src/protocol/api/web-socket.ts";
import { listen } from "../../../src/server/net/listen.ts";
import { WebSockets } from "../../../src/server/ws/web-sockets.ts";
import { omitUndefined } from "../../../src/util/omit-undefined.ts";
import { openTestRuntime } from "../../open.ts";

export const TOKEN = "secret";
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

export type Message = { readonly type: string } & Readonly<Record<string, unknown>>;

export class Client implements AsyncDisposable {
  readonly webSocket: WebSocket;
  readonly messages: Message[] = [];
  /** Code and reason of the end. */
  readonly closed: Promise<readonly [number, string]>;
  #wake: () => void = () => {};
  #read = 0;

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on("message", (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString()) as Message);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      webSocket.once("close", (code, reason) => {
        resolve([code, reason.toString()]);
        this.#wake();
      });
    });
    webSocket.on("error", () => {});
  }

  send(message: object): void {
    this.webSocket.send(JSON.stringify(message));
  }

  /** The next message of the type; those before it are skipped. */
  async next(type: string): Promise<Message> {
    for (;;) {
      while (this.#read < this.messages.length) {
        const message = this.messages[this.#read];
        this.#read += 1;
        expect(serverMessage.parse(message)).toEqual(message);
        if (message?.type === type) return message;
      }
      if (this.webSocket.readyState === WebSocket.CLOSED) throw new Error(`It closed before '${type}' came`);
      await new Promise<void>((resolve) => void (this.#wake = resolve));
    }
  }

  async ask(message: object): Promise<Message> {
    this.send(message);
    return this.next("reply");
  }

  /** Runs code to its end. */
  async execute(code: string, options: object = {}): Promise<Message> {
    const { executionId } = await this.ask({ type: "execute", code, ...options });
    for (;;) {
      const end = await this.next("execution-end");
      if (end["executionId"] === executionId) return end["result"] as Message;
    }
  }

  /** The output, as received. */
  printed(executionId?: unknown): string {
    const own = this.messages.filter(
      ({ type, executionId: id }) => type === "output-delta" && (executionId ?? id) === id,
    );
    return own.map((message) => message["text"]).join("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.webSocket.terminate();
    await this.closed;
  }
}

export interface Refusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

export interface ServerOptions extends ServerContextOptions {
  readonly heartbeatMs?: number;
  readonly maxHeldBytes?: number;
  readonly maxConnections?: number;
}

export async function openServer(runtime: Runtime, options: ServerOptions = {}) {
  const { heartbeatMs, maxHeldBytes, maxConnections } = options;
  const context = createServerContext(runtime, options);
  const unexpected: unknown[] = [];
  const answered: AnsweredRequest[] = [];
  const guard = {
    token: TOKEN,
    onUnexpected: (error: unknown) => void unexpected.push(error),
    onAnswered: (one: AnsweredRequest) => void answered.push(one),
  };
  const cuts: string[] = [];
  const onCut = ({ code }: Problem): void => void cuts.push(code);
  const webSockets = new WebSockets(context, { ...guard, onCut, ...omitUndefined({ heartbeatMs, maxHeldBytes }) });
  const listening = await listen(createApp(context, guard), {
    host: "127.0.0.1",
    port: 0,
    upgrader: webSockets,
    ...omitUndefined({ maxConnections }),
  });
  const port = Number(new URL(listening.url).port);
  const url = `ws://127.0.0.1:${port}`;
  return {
    context,
    webSockets,
    listening,
    port,
    unexpected,
    answered,
    cuts,
    url: listening.url,
    /** Rejects where it is refused. */
    connect: async (path: string, options_: ClientOptions = { headers: AUTHORIZED }): Promise<Client> => {
      const client = new Client(new WebSocket(url + path, options_));
      await once(client.webSocket, "open");
      return client;
    },
    /** The answer where it is refused. */
    refused: (path: string, headers: Readonly<Record<string, string>> = AUTHORIZED): Promise<Refusal> =>
      askUpgrade(port, path, headers),
    /** Whatever is sent, and all that comes back. */
    raw: async (bytes: string | Buffer): Promise<string> => {
      const socket = await openSocket(port);
      socket.write(bytes);
      return text(socket);
    },
    openSocket: () => openSocket(port),
    post: (path: string, json: object, headers: Readonly<Record<string, string>> = {}) =>
      fetch(listening.url + path, {
        method: "POST",
        body: JSON.stringify(json),
        headers: { ...AUTHORIZED, ...headers },
      }),
    [Symbol.asyncDispose]: () => listening.close(0),
  };
}

export type TestServer = Awaited<ReturnType<typeof openServer>>;

async function openSocket(port: number): Promise<Socket> {
  const socket = connectSocket(port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** A valid handshake, except for the given headers. */
export function handshake(path: string, headers: Readonly<Record<string, string | undefined>> = {}): string {
  const all = {
    Host: "localhost",
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    Authorization: `Bearer ${TOKEN}`,
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => (value === undefined ? "" : `${name}: ${value}\r\n`));
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

async function askUpgrade(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<Refusal> {
  const asked = httpRequest({
    port,
    host: "127.0.0.1",
    path,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headers,
    },
  });
  asked.on("upgrade", (_response, socket) => {
    socket.destroy();
    asked.emit("error", new Error("It was let in"));
  });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const body = problem.strict().parse(JSON.parse(await text(response)));
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** For a whole file: one server, and a session that does not expire. Nothing unexpected may have happened by the end. */
export async function openWatchedSession() {
  const runtime = await openTestRuntime({ ids: "random" });
  const server = await openServer(runtime);
  const session = await runtime.openSession({ idleTimeoutMs: null });
  const close = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    await runtime.close();
    expect(server.unexpected).toEqual([]);
  };
  return { runtime, server, session, path: `/v1/sessions/${session.id}/ws`, close };
}
