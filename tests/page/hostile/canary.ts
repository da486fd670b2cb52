// A server that nothing of a session may reach: it keeps whatever arrives, over TCP and UDP.

import { createSocket } from "node:dgram";
import { createServer, type AddressInfo, type Socket } from "node:net";

const ANSWER =
  "HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";

export interface Canary extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** What arrived since the last `clear`: the beginning of what was sent, or that somebody connected. */
  readonly hits: readonly string[];
  clear(): void;
}

export async function openCanary(): Promise<Canary> {
  const hits: string[] = [];
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    hits.push("connected");
    sockets.add(socket);
    socket.on("data", (data) => {
      hits.push(data.toString("latin1").slice(0, 500));
      if (/^[A-Z]+ \//.test(data.toString("latin1"))) socket.end(ANSWER);
    });
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket("udp4").on("message", (data) => hits.push(data.toString("latin1").slice(0, 500)));
  await new Promise<void>((resolve) => udp.bind(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    hits,
    clear: () => void hits.splice(0),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(resolve)),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ]);
    },
  };
}
