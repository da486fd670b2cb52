import { expect, test } from "vitest";
import type { RunId } from "../../../src/protocol/ids.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { EventQueue } from "../../../src/rlm/events/event-log.ts";

const base = { runId: "r1" as RunId, time: 0, nodeId: "n0" };
const told = (seq: number, text = ""): RunEvent => ({ ...base, type: "step-end", seq, step: 1, observation: text });
const delta = (seq: number): RunEvent => ({ ...base, type: "output-delta", seq, step: 1, stream: "stdout", text: "x" });
const small = { events: 3, characters: 10_000 };

async function read(queue: EventQueue, after?: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of queue.read(after)) {
    seen.push(event.type === "event-gap" ? `gap ${event.after}-${event.seq}` : `${event.seq}`);
  }
  return seen;
}

test("what is too old is left out, and a reader is told once which numbers it missed", async () => {
  const queue = new EventQueue({ others: small });
  for (let seq = 1; seq <= 1000; seq += 1) queue.push(told(seq));
  queue.end();
  expect(await read(queue)).toEqual(["gap 0-997", "998", "999", "1000"]);
  expect(await read(queue, 990)).toEqual(["gap 990-997", "998", "999", "1000"]);
  expect(await read(queue, 997)).toEqual(["998", "999", "1000"]);
});

test("large events count by what they hold, and the newest is kept whatever it holds", async () => {
  const queue = new EventQueue({ others: { events: 100, characters: 10_000 } });
  for (let seq = 1; seq <= 100; seq += 1) queue.push(told(seq, "x".repeat(3000)));
  expect(queue.characters).toBeLessThan(10_000);
  queue.push(told(101, "x".repeat(50_000)));
  queue.end();
  expect(await read(queue)).toEqual(["gap 0-100", "101"]);
});

test("a reader that stands still while events go on is told of the gap when it reads on", async () => {
  const queue = new EventQueue({ others: small });
  queue.push(told(1));
  const reader = queue.read();
  expect((await reader.next()).value).toMatchObject({ seq: 1 });
  for (let seq = 2; seq <= 9; seq += 1) queue.push(told(seq));
  expect((await reader.next()).value).toEqual({ type: "event-gap", runId: "r1", time: 0, after: 1, seq: 6 });
  expect((await reader.next()).value).toMatchObject({ seq: 7 });
});

test("deltas go first and without a word; the newest of them are kept", async () => {
  const queue = new EventQueue({ deltas: small });
  queue.push(told(1));
  for (let seq = 2; seq <= 9; seq += 1) queue.push(delta(seq));
  queue.push(told(10));
  queue.end();
  expect(await read(queue)).toEqual(["1", "7", "8", "9", "10"]);
});
