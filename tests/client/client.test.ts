import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { z } from "zod";
import { RemoteExecution } from "../../src/client/remote-execution.ts";
import { fromError } from "../../src/cli/exit-code.ts";
import { ServerClient } from "../../src/client/client.ts";
import { ServerConnectionError, ServerProblem } from "../../src/client/problem.ts";
import type { ExecutionEvent } from "../../src/protocol/events.ts";

const TOKEN = "the-secret-token";

interface FakeServer extends AsyncDisposable {
  readonly client: ServerClient;
  readonly requests: IncomingMessage[];
  readonly warnings: string[];
}

async function openFake(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<FakeServer> {
  const requests: IncomingMessage[] = [];
  const warnings: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.resume().on("end", () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    client: new ServerClient({ url, token: TOKEN, tokenFrom: "RLM_TOKEN" }, (message) => warnings.push(message)),
    requests,
    warnings,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function failureOf(client: ServerClient): Promise<Error> {
  return client.request("GET", "/v1/sessions", z.looseObject({ sessions: z.array(z.unknown()) })).then(
    () => new Error("it worked"),
    (error: unknown) => error as Error,
  );
}

function toProblem(response: ServerResponse, status: number, code: string, detail: string): void {
  response
    .writeHead(status, { "content-type": "application/problem+json" })
    .end(JSON.stringify({ status, code, detail }));
}

test("a problem keeps the server's message, and its status decides the exit code", async () => {
  const codes: number[] = [];
  for (const status of [403, 404, 409, 422, 429, 500, 503]) {
    await using fake = await openFake((_, response) => toProblem(response, status, "X", "As it is"));
    const error = await failureOf(fake.client);
    expect(error).toBeInstanceOf(ServerProblem);
    expect(error.message).toBe("As it is");
    codes.push(fromError(error));
  }
  expect(codes).toEqual([2, 2, 2, 2, 70, 70, 70]);
});

test("a rejected token is reported with where it came from", async () => {
  await using fake = await openFake((_, response) => toProblem(response, 401, "UNAUTHORIZED", "No"));
  const error = await failureOf(fake.client);
  expect(error).toMatchObject({ name: ServerConnectionError.name, fault: "configuration" });
  expect(error.message).toMatch(/rejected the token from RLM_TOKEN$/);
  expect(fake.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test.each([
  ["a page", 200, { "content-type": "text/html" }, "<html>"],
  ["other JSON", 200, { "content-type": "application/json" }, '{"a":1}'],
  ["an error of something else", 404, { "content-type": "text/html" }, "none"],
  ["a problem that is none", 404, { "content-type": "application/problem+json" }, "{}"],
])("%s is reported as a foreign server", async (_, status, headers, body) => {
  await using fake = await openFake((__, response) => response.writeHead(status, headers).end(body));
  const error = await failureOf(fake.client);
  expect(error).toMatchObject({ name: ServerConnectionError.name, fault: "configuration" });
  expect(error.message).toMatch(/is not a server of this version of rlm: it answered \d+ .*Check RLM_URL$/);
});

test("redirects are not followed, so that the token goes nowhere else", async () => {
  await using other = await openFake((_, response) => response.end('{"sessions":[]}'));
  const there = other.client;
  await there.send("GET", "/");
  const location = `http://${other.requests[0]?.headers.host}/v1/sessions`;
  await using fake = await openFake((_, response) => response.writeHead(307, { location }).end());
  expect((await failureOf(fake.client)).message).toContain("is not a server");
  expect(other.requests).toHaveLength(1);
});

test("a missing server is reported with what to do", async () => {
  const fake = await openFake(() => {});
  await fake[Symbol.asyncDispose]();
  const error = await failureOf(fake.client);
  expect(error.message).toMatch(/^nothing listens at .*: start a server with 'rlm serve', or name another in RLM_URL$/);
  expect(fromError(error)).toBe(70);
  expect(error.message).not.toContain(TOKEN);
});

const BASE = { sessionId: "s", executionId: "s.1", seq: 1, time: 1 };
const END = {
  ...BASE,
  type: "execution-end",
  result: {
    status: "ok",
    stdout: "abc",
    stderr: "",
    displays: [],
    state: "kept",
    truncated: null,
    sessionId: "s",
    executionId: "s.1",
    executionCount: 1,
    epoch: 1,
    durationMs: 1,
    usage: { cpuMs: 1, peakMemoryBytes: 1 },
  },
};

function toMessage(id: string, event: { readonly type: string }): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

test("an execution continues after its connection is cut", async () => {
  const delta = (text: string) => ({ ...BASE, type: "output-delta", stream: "stdout", text });
  await using fake = await openFake((request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "execution-id": "s.1" });
    if (request.method === "POST") {
      response.write(toMessage("p1", delta("a")) + toMessage("p2", delta("b")) + "id: p3\nevent: outp", () =>
        response.destroy(),
      );
    } else response.end(toMessage("p3", delta("c")) + toMessage("p4", END));
  });
  const execution = await RemoteExecution.start(fake.client, "s", { code: "" });
  const seen: ExecutionEvent[] = [];
  for await (const event of execution) seen.push(event);
  expect(seen).toEqual([delta("a"), delta("b"), delta("c"), END]);
  expect(fake.requests.map(({ method, url, headers }) => [method, url, headers["last-event-id"]])).toEqual([
    ["POST", "/v1/sessions/s/execute", undefined],
    ["GET", "/v1/executions/s.1/events", "p2"],
  ]);
});

test("an execution gives up after five failed reconnections", async () => {
  await using fake = await openFake((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "execution-id": "s.1" });
    response.write(": still here\n\n", () => response.destroy());
  });
  const execution = await RemoteExecution.start(fake.client, "s", { code: "" });
  await expect(execution[Symbol.asyncIterator]().next()).rejects.toThrow("terminated");
  expect(fake.requests).toHaveLength(6);
  expect(fake.warnings).toEqual(["the connection is lost: trying to resume"]);
});

test("an execution reports that its session or its server ended", async () => {
  await using closed = await openFake((request, response) => {
    if (request.url === "/v1/executions/s.1") return void response.end('{"state":"ended","result":null}');
    response.writeHead(200, { "content-type": "text/event-stream", "execution-id": "s.1" }).end();
  });
  const gone = await RemoteExecution.start(closed.client, "s", {});
  await expect(gone[Symbol.asyncIterator]().next()).rejects.toThrow("the session ended before the code did");

  await using ending = await openFake((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "execution-id": "s.1" });
    response.end(toMessage("p", { type: "server-end" }));
  });
  const left = await RemoteExecution.start(ending.client, "s", {});
  await expect(left[Symbol.asyncIterator]().next()).rejects.toThrow("the server ended before the code did");
});

test("an execution that could not run reports why and is not retried", async () => {
  const problem = { status: 503, code: "WORKER_LOST", detail: "there is no worker" };
  const failed = { type: "execution-failed", executionId: "s.1", problem };
  await using fake = await openFake((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "execution-id": "s.1" });
    response.end(toMessage("p", failed));
  });
  const execution = await RemoteExecution.start(fake.client, "s", {});
  await expect(execution[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    status: 503,
    message: "there is no worker",
  });
  await execution.close();
  expect(fake.requests).toHaveLength(1);
});
