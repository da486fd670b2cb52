import * as fc from "fast-check";
import { expect, test } from "vitest";
import { OutputOrder } from "../../src/kernel/output-order.ts";
import type { OutputStream } from "../../src/protocol/execution.ts";
import type { OrderEvent } from "../../src/protocol/worker/worker-events.ts";

const STREAMS = ["stdout", "stderr"] as const;
type Part = readonly [stream: OutputStream, text: string];

/** A worker's pipes, and an order that reads them. `delivered` is what came out of it. */
class Pipes {
  readonly delivered: Part[] = [];
  readonly held = new Set<OutputStream>();
  isOnePlace = false;
  onDeliver: () => unknown = () => {};
  readonly #pipes: Record<OutputStream, string> = { stdout: "", stderr: "" };
  readonly #events: OrderEvent[] = [];
  readonly #counts = { stdout: 0, stderr: 0 };
  readonly order = new OutputOrder(
    {
      readEvents: () => this.readEvents(),
      drain: (stream) => {
        for (const each of STREAMS) if (stream === undefined || stream === each) this.#take(each, Infinity);
      },
    },
    { stateOf: (stream) => (this.held.has(stream) ? (this.isOnePlace ? "both-held" : "held") : "open") },
    (stream, chunk) => {
      this.delivered.push([stream, chunk.toString()]);
      this.onDeliver();
    },
  );

  /** As the worker writes: a mark, then the bytes. The host reads the first mark at once, because the worker waits for it. */
  write(...parts: readonly Part[]): void {
    let last: OutputStream | undefined;
    for (const [stream, text] of parts) {
      if (last !== undefined && last !== stream) this.mark({ type: "order", next: stream, ...this.#counts });
      last = stream;
      this.writeUnmarked(stream, text);
      this.#counts[stream] += text.length;
    }
  }

  writeUnmarked(stream: OutputStream, text: string): void {
    this.#pipes[stream] += text;
  }

  mark(mark: OrderEvent): void {
    this.#events.push(mark);
    if (this.#events.length === 1) this.readEvents();
  }

  readEvents(): void {
    for (const event of this.#events.splice(0)) this.order.mark(event);
  }

  /** As the host reads a pipe. */
  read(stream: OutputStream, bytes = Infinity): void {
    if (!this.held.has(stream)) this.#take(stream, bytes);
  }

  get text(): string {
    return this.delivered.map(([, text]) => text).join("");
  }

  #take(stream: OutputStream, bytes: number): void {
    const chunk = this.#pipes[stream].slice(0, bytes);
    this.#pipes[stream] = this.#pipes[stream].slice(chunk.length);
    if (chunk !== "") this.order.receive(stream, Buffer.from(chunk));
  }
}

const stream = fc.constantFrom(...STREAMS);
const part = fc.tuple(stream, fc.string({ minLength: 1, maxLength: 5, unit: "grapheme-ascii" }));

test("OutputOrder delivers what was written in turns in that order, however the pipes are read", () => {
  const reads = fc.array(fc.tuple(stream, fc.integer({ min: 1, max: 20 })), { maxLength: 20 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.array(part, { maxLength: 6 }), reads)), (rounds) => {
      const pipes = new Pipes();
      pipes.write(...rounds.flatMap(([parts]) => parts));
      for (const [, sizes] of rounds) for (const [each, bytes] of sizes) pipes.read(each, bytes);
      pipes.order.end({ pending: true });
      expect(pipes.text).toBe(rounds.flatMap(([parts]) => parts.map(([, text]) => text)).join(""));
    }),
  );
});

test("OutputOrder keeps each stream whole and in order, whatever the marks say", () => {
  const mark = fc.record({
    type: fc.constant("order" as const),
    next: stream,
    stdout: fc.maxSafeNat(),
    stderr: fc.maxSafeNat(),
  });
  const small = fc.record({ type: fc.constant("order" as const), next: stream, stdout: fc.nat(9), stderr: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(fc.oneof(part, mark, small)), fc.array(stream), (steps, reads) => {
      const pipes = new Pipes();
      const written = { stdout: "", stderr: "" };
      for (const step of steps) {
        if ("type" in step) pipes.mark(step);
        else {
          pipes.writeUnmarked(...step);
          written[step[0]] += step[1];
        }
      }
      for (const each of reads) pipes.read(each, 3);
      pipes.order.end({ pending: true });
      for (const each of STREAMS) {
        const text = pipes.delivered.flatMap(([from, chunk]) => (from === each ? [chunk] : [])).join("");
        expect(text).toBe(written[each]);
      }
    }),
  );
});

test("OutputOrder waits for nothing: bytes that a mark counts and that never come hold back no others", () => {
  const pipes = new Pipes();
  pipes.mark({ type: "order", next: "stderr", stdout: 1000, stderr: 0 });
  pipes.writeUnmarked("stderr", "here");
  pipes.read("stderr");
  expect(pipes.delivered).toEqual([["stderr", "here"]]);
  pipes.mark({ type: "order", next: "stdout", stdout: 1000, stderr: 4 });
  pipes.mark({ type: "order", next: "stderr", stdout: 1002, stderr: 4 });
  pipes.writeUnmarked("stdout", "ab");
  pipes.writeUnmarked("stderr", "cd");
  pipes.read("stderr");
  expect(pipes.text).toBe("hereabcd");
});

test("OutputOrder corrects its count by bytes that others wrote", () => {
  const pipes = new Pipes();
  pipes.mark({ type: "order", next: "stderr", stdout: 0, stderr: 0 });
  pipes.writeUnmarked("stdout", "of a process ");
  pipes.read("stdout");
  pipes.mark({ type: "order", next: "stdout", stdout: 0, stderr: 0 }); // as the worker marks every write while processes live
  pipes.write(["stdout", "a"], ["stderr", "b"], ["stdout", "c"], ["stderr", "d"]);
  pipes.read("stderr");
  expect(pipes.text).toBe("of a process abcd");
});

test("OutputOrder does not wait for a stream that nobody takes", () => {
  const pipes = new Pipes();
  pipes.held.add("stdout");
  pipes.write(["stdout", "a"], ["stderr", "b"], ["stdout", "c"], ["stderr", "d"]);
  pipes.read("stderr");
  expect(pipes.text).toBe("bd");
  pipes.held.clear();
  pipes.read("stdout");
  expect(pipes.text).toBe("bdac");
});

test("OutputOrder keeps the order where both streams go to one place that takes no more", () => {
  const pipes = new Pipes();
  pipes.isOnePlace = true;
  pipes.onDeliver = () => pipes.held.add("stdout").add("stderr");
  pipes.write(["stdout", "a"], ["stderr", "b"], ["stdout", "c"], ["stderr", "d"]);
  pipes.read("stdout");
  expect(pipes.text).toBe("a");
  pipes.onDeliver = () => {};
  pipes.held.clear();
  pipes.order.resume();
  expect(pipes.text).toBe("abcd");
});

test("OutputOrder refuses marks past the limit, until the execution ends", () => {
  const pipes = new Pipes();
  const mark: OrderEvent = { type: "order", next: "stderr", stdout: 0, stderr: 0 };
  const taken = Array.from({ length: 100_010 }, () => pipes.order.mark(mark)).filter(Boolean).length;
  expect(taken).toBe(100_000);
  pipes.order.end({ pending: false });
  expect(pipes.order.mark(mark)).toBe(true);
});
