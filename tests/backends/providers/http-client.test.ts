import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { drain, HTTPClient } from "../../../src/backends/providers/http-client.ts";

const { signal: never } = new AbortController();
const empty = { headers: {}, body: "", signal: never };

async function openServer(listener: RequestListener) {
  const server = createServer(listener);
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function textOf(response: IncomingMessage): Promise<string> {
  return (await response.setEncoding("utf8").toArray()).join("");
}

test("sends the body with its length and gives status, headers and body", async () => {
  await using server = await openServer((request, response) => {
    void (async () => {
      const body = await textOf(request);
      response.writeHead(418, { "x-length": request.headers["content-length"] ?? "none" });
      response.end(`${request.method} ${String(request.headers["x-key"])} ${body}`);
    })();
  });
  const options = { headers: { "X-Key": "k" }, body: "größe", signal: never };
  const response = await new HTTPClient().post(server.url, options);
  expect([response.statusCode, response.headers["x-length"]]).toEqual([418, "7"]);
  expect(await textOf(response)).toBe("POST k größe");
});

test("reuses a connection whose response was read", async () => {
  await using server = await openServer((_, response) => void response.end("fine"));
  const client = new HTTPClient();
  for (let n = 0; n < 3; n += 1) expect(await textOf(await client.post(server.url, empty))).toBe("fine");
  expect(server.connections()).toBe(1);
});

test("reuses a connection whose response was drained", async () => {
  await using server = await openServer((_, response) => {
    response.write("enough");
    setImmediate(() => response.end("the rest"));
  });
  const client = new HTTPClient();
  for (let n = 0; n < 3; n += 1) {
    const response = await client.post(server.url, empty);
    for await (const _ of response.iterator({ destroyOnReturn: false })) break;
    drain(response);
    await once(response, "close");
  }
  expect(server.connections()).toBe(1);
});

test("gives up a connection whose response does not end", async () => {
  await using server = await openServer((_, response) => void response.write("enough"));
  const response = await new HTTPClient().post(server.url, empty);
  drain(response);
  await once(response, "close");
  expect(response.complete).toBe(false);
});

test("does not follow a redirect", async () => {
  await using server = await openServer((_, response) => void response.writeHead(307, { location: "/x" }).end());
  const response = await new HTTPClient().post(server.url, empty);
  expect(response.statusCode).toBe(307);
  response.resume();
});

test("an abort ends the request before the response and within it", async () => {
  await using server = await openServer(({ url }, response) => void (url === "/begins" && response.write("one")));
  const client = new HTTPClient();
  const [first, second] = [new AbortController(), new AbortController()];
  const waiting = client.post(server.url, { ...empty, signal: first.signal });
  first.abort();
  await expect(waiting).rejects.toThrow("socket hang up");
  const response = await client.post(new URL("/begins", server.url), { ...empty, signal: second.signal });
  const chunks = response.iterator();
  expect(String((await chunks.next()).value)).toBe("one");
  second.abort();
  await expect(chunks.next()).rejects.toThrow("aborted");
});

test("makes no request where the signal is aborted already", async () => {
  const reason = new Error("not needed");
  const options = { ...empty, signal: AbortSignal.abort(reason) };
  await expect(new HTTPClient().post(new URL("http://127.0.0.1:1/"), options)).rejects.toBe(reason);
});

test("a response that is not read is not read from the network", async () => {
  let sent = 0;
  await using server = await openServer((_, response) => {
    const more = (): void => {
      while (response.write(Buffer.alloc(65_536))) sent += 65_536;
      response.once("drain", more);
    };
    more();
  });
  const response = await new HTTPClient().post(server.url, empty);
  await response.iterator({ destroyOnReturn: false }).next();
  for (let n = 0; n < 200; n += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  response.destroy();
});

test("rejects where no server listens", async () => {
  await expect(new HTTPClient().post(new URL("http://127.0.0.1:1/"), empty)).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
});
