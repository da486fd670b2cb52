import { expect, test } from "vitest";
import { WebSocket } from "ws";
import type { SessionEvent } from "../../../src/protocol/events.ts";
import type { Session } from "../../../src/api/session.ts";
import { failureOf } from "../fakes/fake-server.ts";
import { openRemote } from "./remote.ts";

function listen(session: Session) {
  const events: SessionEvent[] = [];
  const subscription = session.subscribe((event) => void events.push(event));
  const printed = (): string =>
    events
      .map((event) => (event.type === "output-delta" ? event.text : event.type === "execution-end" ? "|" : ""))
      .join("");
  return { events, subscription, printed };
}

test("a subscription receives every execution, and ends with the session", async () => {
  await using remote = await openRemote();
  const session = await remote.runtime.openSession();
  const { events, subscription, printed } = listen(session);
  await subscription.ready;
  await session.execute("print('a')");
  await session.execute("print('b')");
  await session.reset();
  await expect.poll(printed).toBe("a\n|b\n|");
  await session.close();
  await subscription.ended;
  expect(events.map(({ type }) => type)).toEqual([
    "execution-start",
    "output-delta",
    "execution-end",
    "execution-start",
    "output-delta",
    "execution-end",
    "session-reset",
    "session-end",
  ]);
  expect(events.every((event) => !("cursor" in event))).toBe(true);
});

test("a subscription continues after lost connections, with no event of an execution lost, repeated or out of order", async () => {
  await using remote = await openRemote();
  await using session = await remote.runtime.openSession();
  const direct = await remote.connect({ url: remote.server.url });
  const same = await direct.sessions.get(session.id);
  const { subscription, printed } = listen(session);
  await subscription.ready;
  let expected = "";
  for (let round = 0; round < 5; round += 1) {
    const running = same.execute(`import time\nfor n in range(20):\n    print(n, flush=True)\n    time.sleep(0.005)`);
    for await (const event of running) {
      if (event.type !== "output-delta") continue;
      remote.proxy.cut();
      break;
    }
    await running;
    remote.proxy.cut();
    // Begins and ends while nobody may be connected.
    await same.execute(`print('round ${round}')`);
    expected += `${Array.from({ length: 20 }, (_, n) => `${n}\n`).join("")}|round ${round}\n|`;
  }
  await expect.poll(printed).toBe(expected);
  subscription[Symbol.dispose]();
  await subscription.ended;
  await direct.close();
});

test("a subscription that begins in the middle receives the whole execution", async () => {
  await using remote = await openRemote();
  await using session = await remote.runtime.openSession();
  const running = session.execute("print('first', flush=True)\nprint(input())", {
    onInput: () => answer,
  });
  let send: (line: string) => void = () => {};
  const answer = new Promise<string>((resolve) => void (send = resolve));
  for await (const event of running) if (event.type === "output-delta") break;
  const { subscription, printed } = listen(session);
  await subscription.ready;
  send("second");
  await running;
  await expect.poll(printed).toBe("first\nsecond\n|");
  subscription[Symbol.dispose]();
});

test("a subscription says why it cannot begin or go on", async () => {
  await using remote = await openRemote();
  const session = await remote.runtime.openSession();
  await session.close();
  const closed = session.subscribe(() => {});
  expect((await failureOf(closed.ready)).name).toMatch(/^Session(Closed|NotFound)Error$/);
  await failureOf(closed.ended);

  const without = await remote.connect({ WebSocket: undefined });
  const open = await without.openSession();
  if (!("WebSocket" in globalThis)) {
    const { ready } = open.subscribe(() => {});
    expect((await failureOf(ready)).message).toContain("give the one of the package 'ws'");
  }
  const kept = await remote.runtime.sessions.get(open.id);
  const lost = kept.subscribe(() => {});
  await lost.ready;
  await remote.runtime.close();
  expect(await failureOf(lost.ended)).toMatchObject({ name: "ServerConnectionError", fault: "connection" });
  await without.close();
});

test("a socket keeps the process alive until the subscription is ready, and not after", async () => {
  const counts: number[] = [];
  let unreferenced = 0;
  class CountingSocket extends WebSocket {
    constructor(url: string) {
      super(url);
      this.once("open", () => {
        const { _socket: socket } = this as unknown as { readonly _socket: { unref: () => void } };
        socket.unref = () => void (unreferenced += 1);
      });
      this.once("message", () => counts.push(unreferenced));
    }
  }
  await using remote = await openRemote();
  const runtime = await remote.connect({ WebSocket: CountingSocket });
  await using session = await runtime.openSession();
  using subscription = session.subscribe(() => {});
  await subscription.ready;
  expect(counts).toEqual([0]);
  expect(unreferenced).toBe(1);
});
