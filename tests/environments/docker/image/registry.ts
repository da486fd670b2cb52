// A registry on loopback, Debian's `docker-registry`, with a folder of its own; and a proxy before it that can refuse or break off.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { remove } from "../../../remove.ts";

const HALF = 500_000;

/** With RLM_REQUIRE_DOCKER=1 the import throws if there is none. */
export const hasRegistry = spawnSync("docker-registry", ["--version"]).status === 0;
if (!hasRegistry && process.env["RLM_REQUIRE_DOCKER"] === "1")
  throw new Error("RLM_REQUIRE_DOCKER is set, and docker-registry is not installed: apt-get install docker-registry");

/** What the proxy does with a request instead of passing it on. Undefined: it passes it on. */
export type Interference = (request: IncomingMessage, response: ServerResponse) => true | undefined;

export class TestRegistry {
  /** Such as `127.0.0.1:5000`. */
  readonly address: string;
  /** Paths that were requested. */
  readonly requests: string[] = [];
  interfere: Interference = () => undefined;
  /** Called instead of sending the rest of an answer that is longer than half a megabyte, which only layers are. */
  inLayer: ((response: ServerResponse) => void) | undefined;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #proxy: Server;

  private constructor(folder: string, child: ChildProcess, port: number, proxy: Server) {
    this.#folder = folder;
    this.#process = child;
    this.#proxy = proxy;
    this.address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    proxy.on("request", (incoming, response) => {
      this.requests.push(`${incoming.method} ${incoming.url}`);
      if (this.interfere(incoming, response) === undefined) this.#pass(incoming, response, port);
    });
  }

  static async open(): Promise<TestRegistry> {
    const folder = mkdtempSync(join(tmpdir(), "rlm-registry-"));
    mkdirSync(join(folder, "data"));
    const settings = {
      version: 0.1,
      log: { level: "info", formatter: "json" },
      storage: { filesystem: { rootdirectory: join(folder, "data") } },
      http: { addr: "127.0.0.1:0", relativeurls: true },
    };
    // JSON is YAML.
    writeFileSync(join(folder, "config.yml"), JSON.stringify(settings));
    const child = spawn("docker-registry", ["serve", join(folder, "config.yml")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const proxy = createServer().listen(0, "127.0.0.1");
    try {
      await once(proxy, "listening");
      return new TestRegistry(folder, child, await listeningPort(child.stderr), proxy);
    } catch (error) {
      child.kill("SIGKILL");
      proxy.close();
      remove(folder);
      throw error;
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#proxy, "close");
    this.#proxy.close();
    this.#proxy.closeAllConnections();
    await closed;
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, "exit");
      this.#process.kill("SIGKILL");
      await ended;
    }
    remove(this.#folder);
  }
  #pass(incoming: IncomingMessage, response: ServerResponse, port: number): void {
    const { method, url, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      const { inLayer } = this;
      if (inLayer === undefined || method !== "GET" || Number(answer.headers["content-length"]) < HALF) {
        answer.pipe(response);
        return;
      }
      let sent = 0;
      answer.on("data", (chunk: Buffer) => {
        if (sent < HALF) response.write(chunk, () => (sent >= HALF ? inLayer(response) : undefined));
        sent += chunk.length;
      });
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    incoming.pipe(onward);
  }
}

/** It chooses a free port and says which. */
async function listeningPort(output: Readable): Promise<number> {
  const said: string[] = [];
  for await (const line of createInterface({ input: output })) {
    said.push(line);
    const port = /listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    // Whatever it says later is read, so that it never waits.
    output.resume();
    return Number(port);
  }
  throw new Error(`docker-registry does not start: ${said.join("\n")}`);
}
