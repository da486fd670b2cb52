// Stands between a runtime and an engine, so that a test can act at the moment of a request.

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface EngineProxy extends AsyncDisposable {
  readonly host: string;
}

/** `onRequest` gets the first line of each request before the engine does. */
export async function openEngineProxy(host: string, onRequest: (line: string) => void): Promise<EngineProxy> {
  const folder = mkdtempSync(join(tmpdir(), "rlm-proxy-"));
  const path = join(folder, "socket");
  const open = new Set<{ destroy: () => unknown }>();
  const server = createServer((client) => {
    const engine = connect(host.replace("unix://", ""));
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
    }
    client.on("data", (chunk: Buffer) => {
      const line = chunk.subarray(0, 300).toString("latin1").split("\r\n")[0] ?? "";
      if (/^[A-Z]+ \/\S* HTTP\/1\.1$/.test(line)) onRequest(line);
      engine.write(chunk);
    });
    client.on("end", () => engine.end());
    engine.pipe(client);
  });
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  return {
    host: `unix://${path}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
