// A proxy on loopback that cuts connections, like a bad network.

import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

interface CuttingProxy extends AsyncDisposable {
  readonly url: string;
}

const EVENT = /\nevent: [^]*?\n\n/;

/** Forwards one event of a stream and cuts the connection, the given number of times. */
export async function startCuttingProxy(to: string, times: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cut = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(to).port), "127.0.0.1");
    let answered = "";
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .once("close", () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      const passed = answered.length;
      answered += chunk.toString("latin1");
      const event = cut < times ? EVENT.exec(answered) : null;
      if (event === null) return void client.write(chunk);
      cut += 1;
      client.end(chunk.subarray(0, event.index + event[0].length - passed));
      upstream.removeAllListeners("data").resume();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
