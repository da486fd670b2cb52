import { expect, test } from "vitest";
import { describeFewFiles, planOpenFiles } from "../../../src/server/net/open-files.ts";

const WANTED = { sessions: 100, tasks: 100, connections: 10_000 };

test.each([
  [128, { sessions: 5, tasks: 5, connections: 13 }],
  [256, { sessions: 18, tasks: 18, connections: 50 }],
  [1024, { sessions: 100, tasks: 100, connections: 244 }],
  [20_000, WANTED],
  [Infinity, WANTED],
])("with %d open files neither sessions nor connections starve the other", (limit, planned) => {
  expect(planOpenFiles(WANTED, limit)).toEqual(planned);
  const { sessions, tasks, connections } = planned;
  expect(80 + sessions * 5 + Math.min(tasks, sessions) * 2 + connections).toBeLessThanOrEqual(limit);
});

test("with too few open files it says what to do", () => {
  expect(() => planOpenFiles(WANTED, 64)).toThrow(/^cannot serve with a limit of 64 open files: .*ulimit -n/);
});

test("lowered limits are reported", () => {
  expect(describeFewFiles(WANTED, planOpenFiles(WANTED, 20_000))).toBeUndefined();
  expect(describeFewFiles(WANTED, planOpenFiles(WANTED, 256))).toMatch(/^at most 18 sessions and 50 connections: /);
});
