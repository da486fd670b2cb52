import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BODY_MEMORY, MemoryBudget, type Reservation } from "../../../../src/server/net/memory-budget.ts";
import { MinThroughput } from "../../../../src/server/net/bodies/min-throughput.ts";
import { RequestStream } from "../../../../src/server/net/bodies/request-stream.ts";

const TOO_SLOW = { problem: { status: 408, code: "TOO_SLOW", headers: { connection: "close" } } };

describe("a body that is read as a whole", () => {
  /** A request of which this much has arrived at each check. */
  function stub(complete: boolean, came: readonly number[]) {
    let looks = 0;
    const socket = {
      get bytesRead(): number {
        looks += 1;
        return came[Math.min(looks, came.length) - 1] ?? 0;
      },
    };
    const incoming = { complete, socket } as unknown as IncomingMessage;
    const stream = new RequestStream(new Request("http://localhost"), { incoming }, { bytes: 10, windowMs: 5 });
    return { stream, looks: () => looks };
  }

  test("is refused when it arrives too slowly", async () => {
    const { stream } = stub(false, [0, 10, 10, 20, 20, 29]); // a look is two readings, and one is before the first
    const budget = new MemoryBudget(BODY_MEMORY);
    const never = (memory: Reservation): Promise<void> => new Promise(() => void memory.tryGrow(1_000_000));
    await expect(stream.whileReading(budget, never)).rejects.toMatchObject(TOO_SLOW);
    expect(budget.usedBytes).toBe(0); // although the reader does not know yet
  });

  test("may take long while data arrives, and passes on other errors", async () => {
    const { stream, looks } = stub(
      false,
      Array.from({ length: 100 }, (_, at) => at * 10),
    );
    const until = async (): Promise<number> => {
      while (looks() < 8) await new Promise((resolve) => void setTimeout(resolve, 5));
      return 7;
    };
    expect(await stream.whileReading(new MemoryBudget(BODY_MEMORY), until)).toBe(7);
    await expect(
      stream.whileReading(new MemoryBudget(BODY_MEMORY), () => Promise.reject(new Error("broken"))),
    ).rejects.toThrow("broken");
  });

  test("is not timed when it has arrived already", async () => {
    const { stream, looks } = stub(true, [0]);
    expect(await stream.whileReading(new MemoryBudget(BODY_MEMORY), async () => 7)).toBe(7);
    expect(looks()).toBe(0);
  });
});

describe("a body that is read chunk by chunk", () => {
  const bounds = { bytes: 1000, windowMs: 50 };
  const take = async (
    body: ReadableStream<Uint8Array>,
    work: () => Promise<void> = async () => {},
  ): Promise<number> => {
    const request = new Request("http://localhost", { method: "PUT", body, duplex: "half" });
    return new RequestStream(request, {}, bounds).receive(async (content) => {
      let total = 0;
      for await (const piece of content) {
        total += piece.length;
        await work();
      }
      return total;
    });
  };
  const drip = (size: number, count: number, everyMs: number): ReadableStream<Uint8Array> => {
    let sent = 0;
    return new ReadableStream({
      pull: async (controller) => {
        await new Promise((resolve) => void setTimeout(resolve, everyMs));
        if (sent === count) return controller.close();
        sent += 1;
        controller.enqueue(new Uint8Array(size));
      },
    });
  };

  test("is refused when single bytes arrive now and then", async () => {
    await expect(take(drip(1, Infinity, 5))).rejects.toMatchObject(TOO_SLOW);
  });

  test("is refused when nothing arrives", async () => {
    await expect(take(new ReadableStream())).rejects.toMatchObject(TOO_SLOW);
  });

  test("is complete, or passes on the reader's error", async () => {
    expect(await take(drip(1000, 3, 0))).toBe(3000);
    await expect(take(drip(1, Infinity, 0), () => Promise.reject(new RangeError("no")))).rejects.toThrow("no");
  });
});

describe("a minimum throughput", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function open() {
    const onStall = vi.fn();
    return { minThroughput: new MinThroughput(onStall, { bytes: 100, windowMs: 1000 }), onStall };
  }

  test("allows a slow transfer for ever while enough arrives", () => {
    const { minThroughput, onStall } = open();
    for (let count = 0; count < 100; count += 1) {
      minThroughput.expectData();
      vi.advanceTimersByTime(490);
      minThroughput.received(50);
    }
    expect(onStall).not.toHaveBeenCalled();
    for (let count = 0; count < 3; count += 1) {
      minThroughput.expectData();
      vi.advanceTimersByTime(490);
      minThroughput.received(30);
    }
    expect(onStall).toHaveBeenCalledTimes(1);
  });

  test("does not count time in which the client has nothing to do", () => {
    const { minThroughput, onStall } = open();
    minThroughput.expectData();
    vi.advanceTimersByTime(900);
    minThroughput.received(1);
    vi.advanceTimersByTime(1_000_000);
    minThroughput.expectData();
    vi.advanceTimersByTime(99);
    expect(onStall).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2);
    expect(onStall).toHaveBeenCalledTimes(1);
  });

  test("allows more time for more bytes", () => {
    const { minThroughput, onStall } = open();
    minThroughput.expectRead(400);
    vi.advanceTimersByTime(3999);
    minThroughput.stop();
    minThroughput.expectRead(1);
    vi.advanceTimersByTime(999);
    expect(onStall).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2);
    expect(onStall).toHaveBeenCalledTimes(1);
  });
});
