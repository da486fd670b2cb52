// A server of its own, a client of it, and between them a proxy that cuts connections where a test says.

import { createServer, connect as connectSocket, type AddressInfo, type Socket } from "node:net";
import { WebSocket } from "ws";
import type { Runtime } from "../../../src/api/runtime.ts";
import { connectWith, type ConnectOptions } from "../../../src/client/connect.ts";
import { systemClock, type Clock } from "../../../src/client/net/clock.ts";
import type { RuntimeOptions } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { openServer, TOKEN, type ServerOptions, type TestServer } from "../../server/ws/connect.ts";

export { TOKEN };

export interface Remote extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly server: TestServer;
  readonly proxy: Proxy;
  readonly warnings: string[];
  connect(options?: Partial<ConnectOptions>): Promise<Runtime>;
}

/** Pauses of a few milliseconds: attempts are as many as in real time. */
export const quickClock: Clock = {
  ...systemClock,
  start: (ms, callback, options) => systemClock.start(ms <= 5_000 ? Math.min(ms, 5) : ms, callback, options),
};

export async function openRemote(options: RuntimeOptions & ServerOptions = {}): Promise<Remote> {
  const local = await openTestRuntime(options);
  const server = await openServer(local, options);
  const proxy = await openProxy(() => server.port);
  const warnings: string[] = [];
  const connect = (more: Partial<ConnectOptions> = {}): Promise<Runtime> =>
    connectWith(
      {
        url: proxy.url,
        token: TOKEN,
        WebSocket: WebSocket,
        onWarning: (text) => void warnings.push(text),
        ...more,
      },
      quickClock,
    );
  const runtime = await connect();
  return {
    runtime,
    server,
    proxy,
    warnings,
    connect,
    [Symbol.asyncDispose]: async () => {
      await runtime.close();
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await local.close();
    },
  };
}

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Connections so far. */
  readonly opened: number;
  /** Ends all connections. */
  cut(): void;
  /** Called with each piece from the server; returns how many bytes of it pass before the connection is cut. Undefined: all. */
  onAnswer: ((piece: Buffer) => number | undefined) | undefined;
}

export async function openProxy(target: () => number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = createServer((near) => {
    opened += 1;
    const far = connectSocket(target(), "127.0.0.1");
    const end = (): void => {
      near.destroy();
      far.destroy();
      sockets.delete(near);
    };
    sockets.add(near);
    near.on("close", end).on("error", end);
    far.on("close", end).on("error", end);
    near.on("data", (piece: Buffer) => {
      if (!far.write(piece)) near.pause();
    });
    far.on("drain", () => near.resume());
    near.on("drain", () => far.resume());
    far.on("data", (piece: Buffer) => {
      const passes = proxy.onAnswer?.(piece);
      if (passes !== undefined) return void near.write(piece.subarray(0, passes), end);
      if (!near.write(piece)) far.pause();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: Proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get opened() {
      return opened;
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    onAnswer: undefined,
    [Symbol.asyncDispose]: async () => {
      proxy.cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
