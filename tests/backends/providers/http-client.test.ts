import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { HTTPClient } from "../../../src/backends/providers/http-client.ts";

async function openServer(answer: RequestListener) {
  const server = createServer(answer);
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

test("sends the body with its length and gives status, headers and body", async () => {
  await using server = await openServer((request, response) => {
    void (async () => {
      const body = (await request.setEncoding("utf8").toArray()).join("");
      response.writeHead(418, { "x-length": request.headers["content-length"] ?? "none", "x-a": ["1", "2"] });
      response.end(`${request.method} ${String(request.headers["x-key"])} ${body}`);
    })();
  });
  const init = { method: "POST", headers: { "X-Key": "k" }, body: "größe" };
  const response = await new HTTPClient().fetch(server.url, init);
  expect([response.status, response.headers.get("x-length"), response.headers.get("x-a")]).toEqual([418, "7", "1, 2"]);
  expect(await response.text()).toBe("POST k größe");
});

test("uses a connection again whose answer was read", async () => {
  await using server = await openServer((_, response) => void response.end("fine"));
  const client = new HTTPClient();
  for (let index = 0; index < 3; index += 1) expect(await (await client.fetch(server.url, {})).text()).toBe("fine");
  expect(server.connections()).toBe(1);
});

test("follows no redirect", async () => {
  await using server = await openServer((_, response) => void response.writeHead(307, { location: "/x" }).end());
  expect((await new HTTPClient().fetch(server.url, {})).status).toBe(307);
});

test("an abort before the answer rejects with its reason, and one within the answer ends the reading", async () => {
  await using server = await openServer(({ url }, response) => void (url === "/begins" && response.write("one")));
  const client = new HTTPClient();
  const [first, second] = [new AbortController(), new AbortController()];
  const reason = new Error("enough");
  const never = client.fetch(server.url, { signal: first.signal });
  first.abort(reason);
  await expect(never).rejects.toBe(reason);
  const response = await client.fetch(new URL("/begins", server.url), { signal: second.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("one");
  second.abort(reason);
  await expect(reader.read()).rejects.toThrow("terminated");
});

test("an answer that nobody reads is not read from the network", async () => {
  let sent = 0;
  await using server = await openServer((_, response) => {
    const more = (): void => {
      while (response.write(Buffer.alloc(65_536))) sent += 65_536;
      response.once("drain", more);
    };
    more();
  });
  const response = await new HTTPClient().fetch(server.url, {});
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  await reader.cancel();
});

test("rejects as fetch does where nobody listens", async () => {
  const failing = new HTTPClient().fetch(new URL("http://127.0.0.1:1/"), {});
  await expect(failing).rejects.toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } });
});
