// Searches in records that were written to hold the server up, and for texts that were chosen for that.

import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, test } from "vitest";
import type { RunSearchAnswer } from "../../../../src/protocol/run-outline/run-outline.ts";
import { IndexedRuns } from "../../../../src/store/runs/indexed/indexed-runs.ts";
import { searchRun } from "../../../../src/store/runs/search/run-search.ts";
import { openRuns, STARTED, toRunId, type TestRuns } from "../recorded-run.ts";

const ID = toRunId("r-0123456789abcdef");
const MIB = 2 ** 20;

async function openRun(runs: TestRuns, events: readonly object[]) {
  const path = join(runs.folder, ID);
  mkdirSync(join(path, "blobs"), { recursive: true });
  const lines = events.map(
    (event, at) => `${JSON.stringify({ seq: at + 1, time: STARTED, nodeId: "n0", ...event })}\n`,
  );
  writeFileSync(join(path, "events.jsonl"), lines.join(""));
  return new IndexedRuns().open(ID, runs);
}

/** How long nothing else could happen at most, in milliseconds. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await work();
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  return delay.max / 1e6;
}

test("a text that almost matches everywhere does not hold up the server", { tags: "stress" }, async () => {
  using runs = openRuns();
  const run = await openRun(runs, [
    { type: "code-start", step: 1, code: "a".repeat(2 * MIB) },
    { type: "code-start", step: 1, code: `${"a".repeat(2 * MIB)}b` },
  ]);
  let answer: RunSearchAnswer | undefined;
  const text = `${"a".repeat(499)}B`;
  const pause = await longestPause(async () => {
    answer = await searchRun(run, text, { budgetMs: 60_000 });
  });
  expect(answer).toMatchObject({
    next: null,
    matches: [{ seq: 2, field: "code", text: `${"a".repeat(499)}b`, after: "" }],
  });
  expect(answer?.matches[0]?.before).toBe("a".repeat(80));
  expect(pause).toBeLessThan(1_500);
});

test("many short texts that almost match do not hold up the server", { tags: "stress" }, async () => {
  using runs = openRuns();
  const args = Array.from({ length: 250 }, () => "a".repeat(64_000));
  const run = await openRun(runs, [{ type: "tool-call-start", callId: "t1", tool: "look", args: [...args, "b"] }]);
  const pause = await longestPause(() => searchRun(run, `${"a".repeat(499)}b\n`, { budgetMs: 60_000 }));
  expect(pause).toBeLessThan(1_500);
});

test("damaged stretches between two events are not read in every search", { tags: "stress" }, async () => {
  using runs = openRuns();
  const run = await openRun(runs, [{ type: "code-start", step: 1, code: "the beginning" }]);
  const path = join(runs.folder, ID, "events.jsonl");
  truncateSync(path, 400 * MIB); // it has no blocks, and reads as zeros
  const late = { type: "code-start", nodeId: "n0", seq: 2, time: STARTED, step: 2, code: "the end" };
  appendFileSync(path, `\n${JSON.stringify(late)}\n`);
  const before = performance.now();
  await run.update();
  const indexed = performance.now();
  for (let at = 0; at < 5; at += 1) {
    const { matches } = await searchRun(run, "the", { budgetMs: 60_000 });
    expect(matches.map(({ seq, after }) => [seq, after])).toEqual([
      [1, " beginning"],
      [2, " end"],
    ]);
  }
  expect(performance.now() - indexed).toBeLessThan(indexed - before);
});

test("a search in a long text ends soon after it is given up", { tags: "stress" }, async () => {
  using runs = openRuns();
  const run = await openRun(runs, [{ type: "code-start", step: 1, code: "a".repeat(6 * MIB) }]);
  const before = performance.now();
  const search = searchRun(run, `${"a".repeat(499)}b`, { budgetMs: 60_000, signal: AbortSignal.timeout(5) });
  await expect(search).rejects.toThrow("timeout");
  expect(performance.now() - before).toBeLessThan(2_000);
});

test.each([
  ["a list", () => Array<number>(4 * MIB).fill(0)],
  ["a list of lists", () => Array.from({ length: 2 * MIB }, () => [])],
  ["an object", () => Object.fromEntries(Array.from({ length: MIB / 8 }, (_, at) => [`k${at}`, 0]))],
])("%s with very many items does not hold up the server", { tags: "stress" }, async (_, result) => {
  using runs = openRuns();
  const run = await openRun(runs, [{ type: "tool-call-end", callId: "t1", ok: true, result: result() }]);
  const pause = await longestPause(() => searchRun(run, "needle\n", { budgetMs: 60_000 }));
  expect(pause).toBeLessThan(1_500);
});

test.each(["İ", "ſ", "K", "ß", "😀", "e\u0301"])("%s is found at any place of a long text", async (text) => {
  using runs = openRuns();
  const places = [0, 65_000, 128 * 1024 - 1, 128 * 1024, 131_500, 400_000];
  const run = await openRun(
    runs,
    places.map((place) => ({ type: "code-start", step: 1, code: `${"x".repeat(place)}${text}${"y".repeat(200_000)}` })),
  );
  const { matches } = await searchRun(run, text, { budgetMs: 60_000 });
  expect(matches.map(({ before, text: found, after }) => [before.length, found, after.length])).toEqual(
    places.map((place) => [Math.min(80, place), text, 80]),
  );
});
