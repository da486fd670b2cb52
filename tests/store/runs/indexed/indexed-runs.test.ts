import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RunNotFoundError } from "../../../../src/errors.ts";
import { OutlineBuilder } from "../../../../src/protocol/run-outline/outline-builder.ts";
import type { RunOutline } from "../../../../src/protocol/run-outline/run-outline.ts";
import type { RunEvent } from "../../../../src/protocol/run-events.ts";
import { readEventPage, type EventRange } from "../../../../src/store/runs/indexed/event-page.ts";
import type { IndexedRun } from "../../../../src/store/runs/indexed/indexed-run.ts";
import { IndexedRuns } from "../../../../src/store/runs/indexed/indexed-runs.ts";
import { RunLogWriter } from "../../../../src/store/runs/run-log.ts";
import { growthDuring } from "../../../hostile/live-memory.ts";
import { openRuns, record, recorded, smallRun, toRunId } from "../recorded-run.ts";
import { writeLongLog } from "./long-log.ts";

const ID = toRunId("r-0123456789abcdef");

function outlineOf(events: readonly RunEvent[]): RunOutline {
  const builder = new OutlineBuilder(ID);
  for (const event of events) builder.add(event);
  return builder.outline;
}

async function page(run: IndexedRun, range: EventRange = {}): Promise<{ seqs: number[]; next: number | null }> {
  const { lines, next } = await readEventPage(run, range);
  return { seqs: lines.map((line) => (JSON.parse(line) as { seq: number }).seq), next };
}

test("a recorded run has the outline of its events", async () => {
  using runs = openRuns();
  await record(smallRun(ID), ID, runs);
  expect((await new IndexedRuns().open(ID, runs)).outline).toEqual(outlineOf(smallRun(ID)));
  await expect(new IndexedRuns().open("r-none", runs)).rejects.toThrow(RunNotFoundError);
  await expect(new IndexedRuns().open("../x", runs)).rejects.toThrow(RunNotFoundError);
});

test("an index grows with its log, also by half a line", async () => {
  using runs = openRuns();
  const events = recorded(smallRun(ID));
  const indexed = new IndexedRuns();
  await using log = new RunLogWriter(ID, runs);
  for (const event of events.slice(0, 5)) log.write(event);
  await log.recordContext("context", { bytes: Buffer.from("x") }); // when it is there, so are they
  const run = await indexed.open(ID, runs);
  expect(run.outline).toEqual(outlineOf(events.slice(0, 5)));
  const path = join(runs.folder, ID, "events.jsonl");
  const line = `${JSON.stringify(events[5])}\n`;
  appendFileSync(path, line.slice(0, 30));
  expect((await indexed.open(ID, runs)).outline).toEqual(outlineOf(events.slice(0, 5)));
  appendFileSync(path, line.slice(30));
  expect((await indexed.open(ID, runs)).outline).toEqual(outlineOf(events.slice(0, 6)));
  expect(await indexed.open(ID, runs)).toBe(run);
});

test("a log that was replaced is read from its beginning", async () => {
  using runs = openRuns();
  await record(smallRun(ID), ID, runs);
  const indexed = new IndexedRuns();
  await indexed.open(ID, runs);
  const path = join(runs.folder, ID, "events.jsonl");
  const lines = readFileSync(path, "utf8").split("\n").slice(0, 4);
  writeFileSync(`${path}.new`, `${lines.join("\n")}\n`);
  renameSync(`${path}.new`, path);
  const run = await indexed.open(ID, runs);
  expect(run.outline).toEqual(outlineOf(recorded(smallRun(ID)).slice(0, 4)));
  expect(await page(run)).toEqual({ seqs: [1, 2, 3, 4], next: null });
  rmSync(join(runs.folder, ID), { recursive: true });
  await expect(indexed.open(ID, runs)).rejects.toThrow(RunNotFoundError);
});

test("damaged lines are counted and left out", async () => {
  using runs = openRuns();
  const events = recorded(smallRun(ID));
  await record(events.slice(0, 2), ID, runs);
  const path = join(runs.folder, ID, "events.jsonl");
  const wrong = [
    "garbage",
    "[]",
    "null",
    '{"type":1}',
    "",
    `"${"x".repeat(17 * 1024 * 1024)}"`,
    "[".repeat(100_000),
    '{"type":"node-start","nodeId":"n9"}',
    '{"type":"node-start","nodeId":"n9","seq":1e999,"time":1}',
    '{"type":"node-start","nodeId":"n9","seq":1,"time":1}', // an earlier number
  ];
  appendFileSync(path, `${wrong.join("\n")}\n${JSON.stringify(events[2])}\n`);
  const run = await new IndexedRuns().open(ID, runs);
  expect(run.outline).toEqual({ ...outlineOf(events.slice(0, 3)), lostLines: wrong.length });
  expect(await page(run)).toEqual({ seqs: [1, 2, 3], next: null });
});

describe("pages of events", () => {
  test("have every event once, in order, of any size", async () => {
    using runs = openRuns();
    const events = recorded(smallRun(ID));
    await record(smallRun(ID), ID, runs);
    const run = await new IndexedRuns().open(ID, runs);
    for (const limit of [1, 2, 7, 1000]) {
      const seqs: number[] = [];
      let after: number | null = 0;
      while (after !== null) {
        const found = await page(run, { after, limit });
        expect(found.seqs.length).toBeLessThanOrEqual(limit);
        seqs.push(...found.seqs);
        after = found.next;
      }
      expect(seqs).toEqual(events.map(({ seq }) => seq));
    }
    expect(await page(run, { after: 10_000 })).toEqual({ seqs: [], next: null });
  });

  test("have the events of a node, or of a step", async () => {
    using runs = openRuns();
    await record(smallRun(ID), ID, runs);
    const run = await new IndexedRuns().open(ID, runs);
    expect(await page(run, { nodeId: "n1" })).toEqual({ seqs: [9, 14, 15, 16, 17], next: null });
    expect(await page(run, { nodeId: "n1", step: 1, limit: 2 })).toEqual({ seqs: [14, 15], next: 15 });
    expect(await page(run, { nodeId: "n1", step: 1, after: 15 })).toEqual({ seqs: [16], next: null });
    expect(await page(run, { nodeId: "n1", step: 2 })).toEqual({ seqs: [], next: null });
    expect(await page(run, { nodeId: "n9" })).toEqual({ seqs: [], next: null });
    expect(await page(run, { nodeId: "__proto__" })).toEqual({ seqs: [], next: null });
  });

  test("end after some megabytes, and have at least one event", async () => {
    using runs = openRuns();
    const events = recorded(smallRun(ID));
    await record(events.slice(0, 2), ID, runs);
    const path = join(runs.folder, ID, "events.jsonl");
    for (const event of events.slice(2, 5)) {
      appendFileSync(path, `${JSON.stringify({ ...event, more: "x".repeat(5 * 1024 * 1024) })}\n`);
    }
    const run = await new IndexedRuns().open(ID, runs);
    const seqs = events.slice(0, 5).map(({ seq }) => seq);
    expect(await page(run)).toEqual({ seqs: seqs.slice(0, 2), next: seqs[1] });
    expect(await page(run, { after: seqs[1] ?? 0 })).toEqual({ seqs: [seqs[2]], next: seqs[2] });
  });
});

test("the index that was used longest ago is dropped first", async () => {
  using runs = openRuns();
  const ids = ["r-1", "r-2", "r-3"].map(toRunId);
  for (const id of ids) await record(smallRun(id), id, runs);
  const indexed = new IndexedRuns({ maxBytes: 1 });
  for (const id of ids) await indexed.open(id, runs);
  expect(indexed.size).toBe(1);
  const all = new IndexedRuns();
  const [first] = await Promise.all([...ids, ...ids].map((id) => all.open(id, runs)));
  expect(all.size).toBe(3);
  expect(await all.open("r-1", runs)).toBe(first);
});

test("a log of 100 MB with 2,000 nodes takes little memory", { tags: "stress" }, async () => {
  using runs = openRuns();
  const { events } = writeLongLog(runs.folder, ID, { nodes: 2000, bytes: 80_000_000 });
  const indexed = new IndexedRuns();
  expect(await growthDuring(() => indexed.open(ID, runs))).toBeLessThan(60);
  const run = await indexed.open(ID, runs);
  const { nodes, spans, lostLines, omitted } = run.outline;
  expect({ nodes: nodes.length, spans: spans.length, lostLines, omitted }).toEqual({
    nodes: 2000,
    spans: 16_000,
    lostLines: 0,
    omitted: 0,
  });
  expect(run.lines.length).toBe(events);
  const last = await readEventPage(run, { nodeId: "n1999", step: 4 });
  expect(last.lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
    "step-start",
    "model-call-start",
    "model-call-end",
    "code-start",
    "code-end",
    "step-end",
  ]);
});
