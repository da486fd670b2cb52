// Something on the way, such as a proxy, cuts connections on which nothing happens for ten seconds.

import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { WebSocketConstructor } from "../../src/client/index.ts";
import {
  beginEvents,
  collect,
  END,
  executionView,
  failureOf,
  openFake,
  sendJSON,
  SESSION,
  START,
  toMessage,
  type FakeServer,
} from "./fakes/fake-server.ts";

/** More than fit into the time without any progress after which a client gives up. */
const CUTS = 12;

async function openCutting(answer: (path: string, response: ServerResponse, cuts: number) => boolean) {
  let cuts = 0;
  const fake: FakeServer = await openFake(({ path, method }, response) => {
    if (path === "/v1/sessions" && method === "POST") return sendJSON(response, SESSION);
    if (path === "/v1/tickets") return sendJSON(response, { ticket: "t" });
    if (answer(path, response, cuts)) return undefined;
    cuts += 1;
    fake.clock.start(10_000, () => response.destroy());
    return undefined;
  });
  return fake;
}

test("an execution is awaited for as long as it takes", async () => {
  await using fake = await openCutting((path, response, cuts) => {
    if (path.endsWith("/execute")) beginEvents(response).write(toMessage("1", START));
    else if (cuts > CUTS) {
      sendJSON(response, executionView("ended"));
      return true;
    }
    return false;
  });
  const session = await (await fake.connect()).openSession();
  expect((await session.execute("long()")).status).toBe("ok");
});

test("an execution is iterated for as long as it takes", async () => {
  await using fake = await openCutting((path, response, cuts) => {
    beginEvents(response);
    if (path.endsWith("/execute")) response.write(toMessage("1", START));
    else if (cuts > CUTS) {
      response.end(toMessage("2", END));
      return true;
    }
    return false;
  });
  const session = await (await fake.connect()).openSession();
  expect(await collect(session.execute("long()"))).toEqual([START, END]);
});

test("what waits behind running code is done when its turn comes", async () => {
  await using fake = await openCutting((path, response, cuts) => {
    if (cuts < CUTS) return false;
    if (path.endsWith("/variables/a")) response.writeHead(204).end();
    else sendJSON(response, { ...SESSION, id: "copy" });
    return true;
  });
  const session = await (await fake.connect()).openSession();
  expect((await session.fork()).id).toBe("copy");
  const keys = fake.requests
    .filter(({ path }) => path.endsWith("/fork"))
    .map(({ headers }) => headers["idempotency-key"]);
  expect(new Set(keys).size).toBe(1);
});

test("a variable is set when its turn comes", async () => {
  await using fake = await openCutting((_path, response, cuts) => {
    if (cuts < CUTS) return false;
    response.writeHead(204).end();
    return true;
  });
  const session = await (await fake.connect()).openSession();
  await session.set("a", { json: 1 });
  expect(fake.requests.filter(({ method }) => method === "PUT")).toHaveLength(CUTS + 1);
});

test("a watch goes on, and says that it may have missed something", async () => {
  await using fake = await openCutting((_path, response, cuts) => {
    beginEvents(response).write("event: watch-start\ndata: {}\n\n");
    if (cuts < CUTS) return false;
    response.end('event: watch-end\ndata: {"why":"it was closed"}\n\n');
    return true;
  });
  const session = await (await fake.connect()).openSession();
  const changes = await collect(await session.files.watch());
  expect(changes).toEqual(Array.from({ length: CUTS }, () => ({ type: "overflow", path: "." })));
});

test("a watch leaves nothing on the signal that it was given", async () => {
  await using fake = await openCutting((_path, response) => {
    beginEvents(response).write("event: watch-start\ndata: {}\n\n");
    return true;
  });
  const session = await (await fake.connect()).openSession();
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...given);
  };
  await (await session.files.watch(".", { signal })).close();
  expect(listeners).toBe(0);
});

test("a WebSocket that never opens is given up", async () => {
  await using fake = await openCutting((_path, response) => {
    sendJSON(response, SESSION);
    return true;
  });
  const opened: string[] = [];
  class Stuck {
    readonly readyState = 0;
    readonly #onClose: ((event: object) => void)[] = [];
    constructor(url: string) {
      opened.push(url);
      setImmediate(() => fake.clock.passSilence());
    }
    addEventListener(type: string, listener: (event: object) => void): void {
      if (type === "close") this.#onClose.push(listener);
    }
    send(): void {}
    close(): void {
      for (const listener of this.#onClose) listener({});
    }
  }
  const runtime = await fake.connect({ WebSocket: Stuck as unknown as WebSocketConstructor });
  const session = await runtime.openSession();
  const subscription = session.subscribe(() => {});
  const error = await failureOf(subscription.ready);
  expect(error).toMatchObject({ name: "ServerConnectionError", fault: "connection" });
  expect(error.message).not.toContain("ticket");
  expect(opened.length).toBeGreaterThan(1);
});
