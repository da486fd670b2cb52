// An engine that answers what a test wants, on a socket. Without a test's answer it behaves well, as far as it goes: its containers never end.

import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { findAddress } from "../../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../../src/environments/docker/engine/engine.ts";
import { remove } from "../../../remove.ts";

export const CONTAINER = "c0".repeat(32);

export interface FakeEngine {
  readonly host: string;
  readonly engine: Engine;
  /** As `POST /containers/create?name=x`, without the version of the API. */
  readonly requests: readonly string[];
  /** Resolves with the first request that matches, also one of the past. */
  until: (pattern: RegExp) => Promise<string>;
}

/** What is sent. `silence`: nothing, and the connection stays open. Undefined: what a good engine says. */
export type Answer = string | { readonly status: number; readonly json: unknown } | undefined;
export const SILENCE = "silence";

export async function openFakeEngine(answer: (request: string) => Answer | Promise<Answer>): Promise<FakeEngine> {
  const folder = mkdtempSync(join(tmpdir(), "rlm-fake-"));
  const socket = join(folder, "engine.sock");
  const requests: string[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((message, response) => {
    const request = `${message.method} ${(message.url ?? "").replace(/^\/v[\d.]+/, "")}`;
    message.resume();
    requests.push(request);
    for (const look of waiting) look();
    void Promise.resolve(answer(request)).then((own) => send(response, own ?? usual(request)));
  }).listen(socket);
  await once(server, "listening");
  const host = `unix://${socket}`;
  const engine = new Engine(findAddress(host));
  onTestFinished(async () => {
    engine.close();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    remove(folder);
  });
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = requests.find((request) => pattern.test(request));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { host, engine, requests, until };
}

function usual(request: string): Answer {
  if (/^GET \/containers\/json|^GET \/images\/json/.test(request)) return "[]";
  if (request.startsWith("GET /images/rlm-runtime/worker"))
    return JSON.stringify({
      Id: "sha256:worker",
      Config: { Labels: { "dev.rlm-runtime.python": "/usr/bin/python3" } },
    });
  if (request.startsWith("GET /images/")) return JSON.stringify({ Id: "sha256:base", RepoTags: ["base:1"] });
  if (request.startsWith("POST /containers/create")) return JSON.stringify({ Id: CONTAINER });
  if (/^POST \/containers\/\w+\/(?:wait|attach)/.test(request)) return SILENCE;
  return "";
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer === SILENCE) return;
  response.setHeader("API-Version", "1.41");
  if (typeof answer === "object") response.writeHead(answer.status).end(JSON.stringify(answer.json));
  else if (answer === "[") response.write(answer);
  else response.end(answer);
}
