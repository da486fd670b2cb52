import { expect, test } from "vitest";
import type { RunId } from "../../../src/protocol/ids.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { EventLog } from "../../../src/rlm/events/event-log.ts";

const base = { runId: "r1" as RunId, time: 0, nodeId: "n0" };
const stepEnd = (seq: number, text = ""): RunEvent => ({ ...base, type: "step-end", seq, step: 1, observation: text });
const delta = (seq: number): RunEvent => ({ ...base, type: "output-delta", seq, step: 1, stream: "stdout", text: "x" });
const small = { events: 3, characters: 10_000 };

async function read(log: EventLog, after?: string): Promise<string[]> {
  const seen: string[] = [];
  for await (const { event } of log.follow(after === undefined ? {} : { after })) {
    seen.push(event.type === "event-gap" ? `gap ${event.after}-${event.seq}` : `${event.seq}`);
  }
  return seen;
}

test("EventLog drops the oldest events, and a reader gets one gap with the missing numbers", async () => {
  const log = new EventLog({ others: small });
  for (let seq = 1; seq <= 1000; seq += 1) log.push(stepEnd(seq));
  log.end();
  expect(await read(log)).toEqual(["gap 0-997", "998", "999", "1000"]);
  expect(await read(log, "990")).toEqual(["gap 990-997", "998", "999", "1000"]);
  expect(await read(log, "997")).toEqual(["998", "999", "1000"]);
});

test("EventLog limits the size of events, and keeps the newest whatever its size", async () => {
  const log = new EventLog({ others: { events: 100, characters: 10_000 } });
  for (let seq = 1; seq <= 100; seq += 1) log.push(stepEnd(seq, "x".repeat(3000)));
  expect(log.characters).toBeLessThan(10_000);
  log.push(stepEnd(101, "x".repeat(50_000)));
  log.end();
  expect(await read(log)).toEqual(["gap 0-100", "101"]);
});

test("EventLog gives a slow reader a gap when it reads on", async () => {
  const log = new EventLog({ others: small });
  log.push(stepEnd(1));
  const reader = log[Symbol.asyncIterator]();
  expect((await reader.next()).value).toMatchObject({ seq: 1 });
  for (let seq = 2; seq <= 9; seq += 1) log.push(stepEnd(seq));
  expect((await reader.next()).value).toEqual({ type: "event-gap", runId: "r1", time: 0, after: 1, seq: 6 });
  expect((await reader.next()).value).toMatchObject({ seq: 7 });
});

test("EventLog drops old deltas silently and keeps the newest", async () => {
  const log = new EventLog({ deltas: small });
  log.push(stepEnd(1));
  for (let seq = 2; seq <= 9; seq += 1) log.push(delta(seq));
  log.push(stepEnd(10));
  log.end();
  expect(await read(log)).toEqual(["1", "7", "8", "9", "10"]);
});
