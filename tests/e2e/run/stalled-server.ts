// A server on loopback that describes itself as another one does, and never reads what it is sent.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Serving } from "../serving.ts";

interface StalledServer extends AsyncDisposable {
  readonly url: string;
  /** Settles when something is being sent. */
  readonly sending: Promise<unknown>;
}

export async function startStalledServer({ url, token }: Serving): Promise<StalledServer> {
  const headers = { authorization: `Bearer ${token}` };
  const version = await (await fetch(`${url}/v1/version`, { headers })).text();
  const server = createServer();
  const sending = new Promise((resolve) => {
    server.on("request", (request, response) => {
      if (request.method === "GET") response.writeHead(200, { "content-type": "application/json" }).end(version);
      else resolve(undefined);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sending,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
