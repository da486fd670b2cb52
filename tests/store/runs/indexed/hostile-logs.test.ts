// Logs that were written to fill memory, or to keep a server busy.

import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunOutline } from "../../../../src/protocol/run-outline/run-outline.ts";
import { IndexedRuns } from "../../../../src/store/runs/indexed/indexed-runs.ts";
import { LineTable } from "../../../../src/store/runs/indexed/line-table.ts";
import { openRuns, STARTED, toRunId, type TestRuns } from "../recorded-run.ts";

const ID = toRunId("r-0123456789abcdef");
const MIB = 2 ** 20;

function writeLog(runs: TestRuns, text: string): string {
  mkdirSync(join(runs.folder, ID, "blobs"), { recursive: true });
  const path = join(runs.folder, ID, "events.jsonl");
  writeFileSync(path, text);
  return path;
}

const line = (seq: number): string => `${JSON.stringify({ type: "run-start", seq, time: STARTED })}\n`;

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

test("ids of nodes that are new in every line are not all kept", () => {
  const table = new LineTable();
  for (let at = 0; at < 200_000; at += 1)
    table.add({ offset: at, bytes: 1 }, { seq: at + 1, nodeId: `n${at}`, step: null });
  expect([...table.after(0, { nodeId: "n7" })]).toHaveLength(1);
  expect([...table.after(0, { nodeId: "n199999" })]).toHaveLength(0);
  expect([...table.after(199_998)].map(({ seq }) => seq)).toEqual([199_999, 200_000]);
  expect(table.byteSize).toBeGreaterThan(10 * MIB);
});

test("a line without an end is read once", { tags: "stress" }, async () => {
  using runs = openRuns();
  const path = writeLog(runs, line(1));
  const indexed = new IndexedRuns();
  await indexed.open(ID, runs);
  truncateSync(path, 400 * MIB); // it has no blocks, and reads as zeros
  const first = await timeOf(() => indexed.open(ID, runs));
  const again = await timeOf(async () => {
    for (let at = 0; at < 10; at += 1) await indexed.open(ID, runs);
  });
  expect(again / 10).toBeLessThan(first / 2);
  appendFileSync(path, `the rest of it\n${line(2)}`);
  expect((await indexed.open(ID, runs)).outline).toMatchObject({ seq: 2, lostLines: 1 });
});

test("a log of terabytes is read up to a limit", { tags: "stress" }, async () => {
  using runs = openRuns();
  truncateSync(writeLog(runs, line(1)), 2 ** 40);
  const run = await new IndexedRuns().open(ID, runs);
  expect(run.outline).toMatchObject({ seq: 1, lostLines: 1 });
});

test("the same outline is not copied for each of those who ask", async () => {
  using runs = openRuns();
  writeLog(runs, line(1));
  const indexed = new IndexedRuns();
  const first = (await indexed.open(ID, runs)).outline;
  expect((await indexed.open(ID, runs)).outline).toBe(first);
  appendFileSync(join(runs.folder, ID, "events.jsonl"), line(2));
  expect((await indexed.open(ID, runs)).outline).toMatchObject({ seq: 2 });
  expect(first).toMatchObject({ seq: 1 });
});

test("a line that is nested deeply is lost, and does not hold up the server", async () => {
  using runs = openRuns();
  const depth = 2 * MIB;
  const deep = `{"type":"node-start","seq":2,"time":1,"nodeId":"n0","x":${"[".repeat(depth)}${"]".repeat(depth)}}\n`;
  const brackets = `${JSON.stringify({ type: "run-start", seq: 3, time: STARTED, query: '["\\'.repeat(10_000) })}\n`;
  writeLog(runs, line(1) + deep + brackets);
  let outline: RunOutline | undefined;
  const took = await timeOf(async () => {
    ({ outline } = await new IndexedRuns().open(ID, runs));
  });
  expect(outline).toMatchObject({ seq: 3, lostLines: 1, nodes: [] });
  expect(took).toBeLessThan(3_000);
});
