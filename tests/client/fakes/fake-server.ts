// A server that answers as a test says, and clients of it.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Runtime } from "../../../src/api/runtime.ts";
import { connectWith, type ConnectOptions } from "../../../src/client/connect.ts";
import { TestClock } from "./test-clock.ts";

export const TOKEN = "the-secret-token";

export const VERSION = {
  version: "1.2.3",
  protocol: 1,
  node: "v20",
  python: "3.12",
  environment: "local",
  tier: null,
  notStopped: [],
  strongerTier: null,
  capabilities: {
    fork: true,
    checkpoint: true,
    shell: true,
    processes: true,
    threads: true,
    watch: true,
    inspectWhileRunning: true,
    network: "none",
    packages: "none",
    languages: ["python"],
  },
};

export interface FakeRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (request: FakeRequest, response: ServerResponse) => void;

export interface FakeServer extends AsyncDisposable {
  readonly url: string;
  readonly clock: TestClock;
  /** Without those for the version. */
  readonly requests: FakeRequest[];
  readonly warnings: string[];
  connect(options?: Partial<ConnectOptions>): Promise<Runtime>;
  /** Ends all connections. */
  cut(): void;
}

/** It answers for its version unless `isRaw`. */
export async function openFake(answer: Answer, { isRaw = false } = {}): Promise<FakeServer> {
  const requests: FakeRequest[] = [];
  const warnings: string[] = [];
  const clock = new TestClock();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url: path = "", headers } = incoming;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      if (!isRaw && path.endsWith("/v1/version")) return sendJSON(response, VERSION);
      requests.push(request);
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    clock,
    requests,
    warnings,
    connect: (options) =>
      connectWith({ url, token: TOKEN, onWarning: (text) => void warnings.push(text), ...options }, clock),
    cut: () => server.closeAllConnections(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJSON(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json", "rlm-protocol": "1" }).end(JSON.stringify(value));
}

export function sendProblem(response: ServerResponse, status: number, code: string, more: object = {}): void {
  response
    .writeHead(status, { "content-type": "application/problem+json" })
    .end(JSON.stringify({ status, code, detail: "As it is", ...more }));
}

export function beginEvents(response: ServerResponse): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  return response;
}

export function toMessage(id: string | undefined, event: { readonly type: string }): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

export const SESSION = {
  id: "s",
  environment: VERSION.environment,
  tier: "A",
  capabilities: VERSION.capabilities,
  state: "idle",
  createdAt: "2026-01-01T00:00:00.000Z",
  lastExecutedAt: null,
  executionCount: 0,
  waiting: 0,
  epoch: 1,
  checkpointId: null,
  head: 0,
  forkedFrom: null,
  idleTimeoutMs: null,
  expiresAt: null,
  variableCount: 0,
  variables: [],
  memoryBytes: null,
  stdlib: { loaded: true, error: null },
};

export const RESULT = {
  status: "ok",
  stdout: "abc",
  stderr: "",
  displays: [],
  state: "kept",
  truncated: null,
  sessionId: "s",
  executionId: "x1",
  executionCount: 1,
  epoch: 1,
  durationMs: 1,
  usage: { cpuMs: 1, peakMemoryBytes: 1 },
};

const BASE = { sessionId: "s", executionId: "x1", seq: 1, time: 1 };
export const START = { ...BASE, type: "execution-start", code: "", executionCount: 1 };
export const END = { ...BASE, type: "execution-end", result: RESULT };

export function delta(text: string): typeof BASE & { type: string; stream: string; text: string } {
  return { ...BASE, type: "output-delta", stream: "stdout", text };
}

/** The part of a server that has one session and one execution, of which `events` are sent. */
export function executionView(state: "waiting" | "running" | "ended", more: object = {}): object {
  return {
    id: "x1",
    sessionId: "s",
    state,
    startedAt: null,
    outputBytes: 0,
    result: state === "ended" ? RESULT : null,
    ...more,
  };
}

export async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}

export async function failureOf(promise: PromiseLike<unknown>): Promise<Error & Record<string, unknown>> {
  return Promise.resolve(promise).then(
    (value) => Object.assign(new Error("it worked"), { value } as Record<string, unknown>),
    (error: unknown) => error as Error & Record<string, unknown>,
  );
}
