// The recordings that other tests open are real ones: the reader of the store understands every line.

import { join } from "node:path";
import { expect, test } from "vitest";
import { readRun } from "../../../src/store/runs/run-log-reader.ts";
import { Folder } from "../../config/folder.ts";
import { createLargeRun } from "./large-run.ts";

test("a run that never happened can be read like any other", async () => {
  using data = new Folder();
  const recording = createLargeRun({ id: "r-medium", nodes: 200, bytes: 4_000_000 });
  await recording.write(data.path);
  const run = await readRun("r-medium", { folder: join(data.path, "runs") });
  const depths = new Map<number, number>();
  let last = 0;
  for await (const recorded of run.events()) {
    const event = await recorded.whole();
    expect(event.seq).toBe(last + 1);
    last = event.seq;
    if (event.type === "node-start") depths.set(event.depth, (depths.get(event.depth) ?? 0) + 1);
  }
  expect([...depths.keys()].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
  expect([...depths.values()].reduce((sum, count) => sum + count, 0)).toBe(200);
  expect(run.damagedLines).toBe(0);
});
