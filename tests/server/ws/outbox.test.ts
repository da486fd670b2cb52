import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import type { WebSocket } from "ws";
import { describe, expect, test } from "vitest";
import { MemoryBudget, MESSAGE_MEMORY } from "../../../src/server/net/memory-budget.ts";
import { Outbox } from "../../../src/server/ws/outbox.ts";

const MIB = 1024 * 1024;

class FakeWebSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  pings = 0;
  isTerminated = false;
  send(frame: Buffer): void {
    this.sent.push(frame.length > 100 ? "large" : frame.toString());
    this.bufferedAmount += frame.length;
  }
  pong(content: Buffer): void {
    this.sent.push(`pong ${content.toString()}`);
  }
  ping(): void {
    this.pings += 1;
  }
  terminate(): void {
    this.isTerminated = true;
  }
}

function open(budget = new MemoryBudget(MESSAGE_MEMORY)) {
  const webSocket = new FakeWebSocket();
  const stream = new PassThrough();
  let drains = 0;
  const memory = budget.reserve({ dismiss: () => {}, cut: () => {} });
  const outbox = new Outbox(webSocket as unknown as WebSocket, stream, memory, () => void (drains += 1));
  const drain = (): void => {
    webSocket.bufferedAmount = 0;
    stream.emit("drain");
  };
  return { webSocket, outbox, drain, drains: () => drains };
}

describe("an outbox", () => {
  test("is full when 4 MiB are buffered, one large frame aside", () => {
    const { outbox, drain } = open();
    outbox.send(Buffer.alloc(4 * MIB));
    expect(outbox.isFull).toBe(false);
    outbox.send(Buffer.alloc(1));
    expect(outbox.isFull).toBe(true);
    drain();
    outbox.send(Buffer.alloc(20 * MIB));
    outbox.send(Buffer.alloc(4 * MIB));
    expect(outbox.isFull).toBe(false);
    outbox.send(Buffer.alloc(1));
    expect(outbox.isFull).toBe(true);
    drain();
    outbox.send(Buffer.alloc(4 * MIB + 1));
    drain();
    outbox.send(Buffer.alloc(4 * MIB));
    outbox.send(Buffer.alloc(1));
    expect(outbox.isFull).toBe(true);
  });

  test("is full earlier while the memory budget is tight", () => {
    const budget = new MemoryBudget({ ...MESSAGE_MEMORY, maxBytes: MIB });
    const { outbox } = open(budget);
    outbox.send(Buffer.alloc(300 * 1024));
    expect(outbox.isFull).toBe(false);
    const other = budget.reserve({ dismiss: () => {}, cut: () => {} });
    other.resize(300 * 1024);
    expect(outbox.isFull).toBe(true);
    other.close();
    expect(outbox.isFull).toBe(false);
  });

  test("answers the last ping of an iteration, and for a stuck reader only the last one, later", async () => {
    const { webSocket, outbox, drain } = open();
    const ping = async (...contents: string[]): Promise<void> => {
      for (const content of contents) outbox.pong(Buffer.from(content));
      await new Promise(setImmediate);
    };
    await ping("1", "2");
    outbox.send(Buffer.alloc(MIB));
    await ping("3");
    await ping("4", "5");
    drain();
    await ping("6");
    expect(webSocket.sent).toEqual(["pong 2", "large", "pong 5", "pong 6"]);
  });

  test("sends replayed frames when all before were taken, and not after the socket has closed", async () => {
    for (const how of ["drain", "close"] as const) {
      const { webSocket, outbox, drain } = open();
      expect(await outbox.sendWhenReady(Buffer.alloc(MIB))).toBe(true);
      let outcome: boolean | undefined;
      const sent = outbox.sendWhenReady(Buffer.from("next")).then((isSent) => (outcome = isSent));
      for (let round = 0; round < 3; round += 1) await new Promise(setImmediate);
      expect([outcome, webSocket.sent]).toEqual([undefined, ["large"]]);
      if (how === "drain") drain();
      else {
        webSocket.readyState = 3;
        webSocket.emit("close");
      }
      expect(await sent).toBe(how === "drain");
      expect(webSocket.sent).toEqual(how === "drain" ? ["large", "next"] : ["large"]);
    }
  });

  test("yields to the event loop during a replay, however fast the reader is", async () => {
    const { webSocket, outbox } = open();
    let hadTurn = false;
    setImmediate(() => (hadTurn = true));
    for (let count = 0; count < 3; count += 1) {
      await outbox.sendWhenReady(Buffer.alloc(64 * 1024));
      webSocket.bufferedAmount = 0;
    }
    expect(hadTurn).toBe(true);
  });

  test("ends a connection whose replies pile up", () => {
    const { webSocket, outbox } = open();
    outbox.sendMessage({ type: "server-end", why: "x".repeat(4 * MIB) });
    outbox.sendMessage({ type: "server-end", why: "x".repeat(8 * MIB) });
    expect(webSocket.isTerminated).toBe(false);
    webSocket.bufferedAmount += 9 * MIB;
    outbox.sendMessage({ type: "server-end", why: "" });
    expect(webSocket.isTerminated).toBe(true);
  });

  test("sends frames of a batch after messages", () => {
    const { webSocket, outbox } = open();
    outbox.batch(() => {
      outbox.send(Buffer.from("event"));
      outbox.sendMessage({ type: "server-end", why: "" });
    });
    expect(webSocket.sent).toEqual([`{"type":"server-end","why":""}`, "event"]);
  });

  test("lets a reader be as slow as it likes while it reads something", () => {
    const { webSocket, outbox } = open();
    outbox.send(Buffer.alloc(1000));
    for (let count = 0; count < 10; count += 1) {
      outbox.heartbeat();
      webSocket.bufferedAmount -= 1;
    }
    expect([webSocket.isTerminated, webSocket.pings]).toEqual([false, 0]);
    outbox.heartbeat();
    outbox.heartbeat();
    expect(webSocket.isTerminated).toBe(false);
    outbox.heartbeat();
    expect(webSocket.isTerminated).toBe(true);
  });

  test("pings an idle client", () => {
    const { webSocket, outbox } = open();
    outbox.heartbeat();
    webSocket.emit("pong");
    outbox.heartbeat();
    expect([webSocket.isTerminated, webSocket.pings]).toEqual([false, 2]);
    outbox.heartbeat();
    expect(webSocket.isTerminated).toBe(true);
  });
});
