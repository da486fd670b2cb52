import { expect, test } from "vitest";
import type { Run } from "../../src/rlm/run.ts";
import { LiveRuns } from "../../src/rlm/live-runs.ts";
import { ActiveWork } from "../../src/util/async/active-work.ts";

const MIB = 1024 * 1024;

function ended(id: string, weight: number): Run {
  return { id, weight, result: Promise.resolve(), cancel: () => {} } as unknown as Run;
}

test("the last hundred ended runs are kept", async () => {
  const runs = new LiveRuns(new ActiveWork());
  for (let number = 1; number <= 120; number += 1) runs.add(ended(`r${number}`, 10));
  await runs.cancelAll();
  expect(runs.list().map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => `r${index + 21}`));
});

test("fewer are kept where their events are large, and always the last one", async () => {
  const runs = new LiveRuns(new ActiveWork());
  for (let number = 1; number <= 5; number += 1) runs.add(ended(`r${number}`, 50 * MIB));
  await runs.cancelAll();
  expect(runs.list().map(({ id }) => id)).toEqual(["r4", "r5"]);
  runs.add(ended("large", 500 * MIB));
  await runs.cancelAll();
  expect(runs.list().map(({ id }) => id)).toEqual(["large"]);
});
