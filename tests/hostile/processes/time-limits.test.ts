// Time limits: an execution ends within its limit, the grace and a second, whatever its code does.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRuntime, type Result, type Runtime, type Session } from "../../internals.ts";
import { comesTrue, parentOf, processesWith, python } from "../machine.ts";
import { uniqueSleep } from "../probe.ts";
import { skipInTierC } from "../../tier.ts";

const MIB = 2 ** 20;
const GRACE_MS = 2000;
const SECOND_MS = 1000;
/** Timers that follow one another: the limit, twice half of the grace, the end of the worker. */
const TIMERS = 4;

const folder = join(import.meta.dirname, "../../fixtures/endless");
/** Each of these alone keeps two cores busy. The others run at once. */
const heavy = ["busy-processes", "shared-memory", "threads"];
const programs = readdirSync(folder)
  .map((name) => name.replace(".py", ""))
  .filter((name) => name !== "many-mappings"); // which has a test of its own

let runtime: Runtime;

beforeAll(async () => {
  const limits = { memoryBytes: 512 * MIB, diskBytes: 64 * MIB };
  runtime = await openRuntime({ python, preload: [], idleTimeoutMs: null, poolSize: 0, limits });
});

afterAll(() => runtime?.close());

describe("code that would run for ever ends in time, and the session goes on", { tags: "stress" }, () => {
  test.each(heavy)("%s", async (program) => {
    await endInTime([program]);
  });

  test("all others together", async () => {
    await endInTime(programs.filter((program) => !heavy.includes(program)));
  });
});

test("files can be listed while the memory of many processes is counted", { tags: "stress" }, async () => {
  await using session = await runtime.openSession();
  const limitMs = 2000;
  const pauses = watchPauses();
  const execution = session.execute(read("many-mappings"), { timeoutMs: limitMs });
  const over = new AbortController();
  void execution.result.then(() => over.abort());
  while (!over.signal.aborted) expect(await session.files.list(".")).toMatchObject({ omitted: 0 });
  expectInTime("many-mappings", await execution.result, limitMs, pauses.end());
});

test(
  "an init that does not answer: the result comes all the same, and the next execution has a new sandbox",
  { tags: "stress" },
  async (context) => {
    skipInTierC(context, "it is found by its process namespace");
    await using session = await runtime.openSession();
    const mark = uniqueSleep();
    const execution = session.execute(`open("kept", "w"); import os; os.system("sleep ${mark}")`, { timeoutMs: 500 });
    expect(await comesTrue(() => processesWith(mark).length > 0)).toBe(true);
    const init = initOf(processesWith(mark)[0] ?? 0);
    process.kill(init, "SIGSTOP");
    const result = await execution.result;
    expect(result).toMatchObject({ reason: "timeout", state: "lost", epoch: 2 });
    expect((await session.execute("import os; os.listdir()").result).value).toEqual({ "text/plain": "[]" });
    expect(await comesTrue(() => processesWith(mark).length === 0)).toBe(true);
  },
);

async function endInTime(names: readonly string[]): Promise<void> {
  const limitMs = 1000;
  const sessions = await Promise.all(names.map(() => runtime.openSession()));
  const pauses = watchPauses();
  const executions = names.map((name, index) => at(sessions, index).execute(read(name), { timeoutMs: limitMs }));
  const results = await Promise.all(executions.map(({ result }) => result));
  const longestMs = pauses.end();
  for (const [index, result] of results.entries()) expectInTime(names[index] ?? "", result, limitMs, longestMs);
  for (const session of sessions) {
    expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
    await session.close();
  }
}

/** While a machine is so busy that this process does not run, it can report nothing. Every timer may be late by that. */
function expectInTime(what: string, result: Result, limitMs: number, longestPauseMs: number): void {
  expect(result, what).toMatchObject({ status: "interrupted", reason: expect.stringMatching(/^(timeout|memory)$/) });
  const allowedMs = limitMs + GRACE_MS + SECOND_MS + TIMERS * longestPauseMs;
  expect(result.durationMs, `${what}: the longest pause was ${longestPauseMs} ms`).toBeLessThan(allowedMs);
}

/** Measures the longest time in which this process did not run. */
function watchPauses(): { end(): number } {
  const intervalMs = 5;
  let last = performance.now();
  let longest = 0;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last - intervalMs);
    last = now;
  };
  const timer = setInterval(look, intervalMs);
  return {
    end: () => {
      look();
      clearInterval(timer);
      return Math.round(longest);
    },
  };
}

function read(program: string): string {
  return readFileSync(join(folder, `${program}.py`), "utf8");
}

function at(sessions: readonly Session[], index: number): Session {
  const session = sessions[index];
  if (session === undefined) throw new RangeError(`there is no session ${index}`);
  return session;
}

/** The oldest ancestor inside the sandbox. */
function initOf(pid: number): number {
  const parent = parentOf(pid) ?? 0;
  return /^NSpid:\t\d+\t1$/m.test(readFileSync(`/proc/${parent}/status`, "utf8")) ? parent : initOf(parent);
}
