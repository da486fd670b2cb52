// What callers can reach of a runtime over HTTP, and what the client keeps.

import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { WebSocketConstructor } from "../../src/client/index.ts";
import { CallOrders } from "../../src/client/work/call-order.ts";
import { namesOf } from "../fixtures/names-of.ts";
import { beginEvents, END, executionView, openFake, sendJSON, SESSION, toMessage, TOKEN } from "./fakes/fake-server.ts";

const PROMISE = ["then", "catch", "finally"];

test("executions, tasks and runs have what is public, and nothing else", async () => {
  await using fake = await openFake(({ path, method }, response) => {
    sendJSON(response, path === "/v1/sessions" && method === "POST" ? SESSION : executionView("ended"));
  });
  const runtime = await fake.connect();
  const execution = runtime.execute("1");
  const task = runtime.shell("true");
  const run = runtime.rlm().run({ query: "Why?" });
  expect(namesOf(execution)).toEqual(["id", "answer", "cancel", "output", ...PROMISE].toSorted());
  expect(namesOf(task)).toEqual(
    ["id", "info", "output", "wait", "cancel", "pause", "resume", "write", "closeInput", ...PROMISE].toSorted(),
  );
  const looks = ["outline", "eventPage", "search", "blob", "follow"];
  expect(namesOf(run)).toEqual(["id", "info", "cancel", ...looks, ...PROMISE].toSorted());
  const all = [runtime, await runtime.openSession(), execution, task, run];
  expect(inspect(all, { depth: Infinity, showHidden: true, getters: true })).not.toContain(TOKEN);
});

test("the order of calls is forgotten when nothing is under way", async () => {
  const orders = new CallOrders();
  const first = orders.of("s");
  await first.urge(() => Promise.resolve());
  expect(orders.of("s")).not.toBe(first);
  const second = orders.of("s");
  await second.urge(() => Promise.reject(new Error("refused"))).catch(() => {});
  expect(orders.of("s")).not.toBe(second);
});

test("work that nobody awaits leaves nothing on its signal when it has ended", async () => {
  await using fake = await openFake(({ path, method }, response) => {
    if (path === "/v1/sessions" && method === "POST") sendJSON(response, SESSION);
    else if (path.endsWith("/execute")) beginEvents(response).end(toMessage("1", END));
    else sendJSON(response, executionView("ended"));
  });
  const session = await (await fake.connect()).openSession();
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  Object.assign(signal, {
    addEventListener: (...given: Parameters<typeof add>) => {
      listeners.add(given[1]);
      add(...given);
    },
    removeEventListener: (...given: Parameters<typeof remove>) => {
      listeners.delete(given[1]);
      remove(...given);
    },
  });
  void session.execute("1", { signal });
  expect(listeners.size).toBe(1);
  await expect.poll(() => listeners.size).toBe(0);
});

test("a process does not end before a subscription is ready", async () => {
  await using fake = await openFake(({ path }, response) => {
    sendJSON(response, path === "/v1/tickets" ? { ticket: "t" } : SESSION);
  });
  const steps: string[] = [];
  class Socket extends EventTarget {
    readonly readyState = 1;
    readonly _socket = { unref: () => steps.push("unref") };
    constructor() {
      super();
      setImmediate(() => {
        this.dispatchEvent(new Event("open"));
        setImmediate(() => {
          steps.push("hello");
          this.dispatchEvent(new MessageEvent("message", { data: '{"type":"hello","running":null}' }));
        });
      });
    }
    send(): void {}
    close(): void {
      this.dispatchEvent(new Event("close"));
    }
  }
  const runtime = await fake.connect({ WebSocket: Socket as unknown as WebSocketConstructor });
  using subscription = (await runtime.openSession()).subscribe(() => {});
  await subscription.ready;
  expect(steps).toEqual(["hello", "unref"]);
});
