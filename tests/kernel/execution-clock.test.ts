import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ExecutionClock } from "../../src/kernel/execution-clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function createClock(): { readonly clock: ExecutionClock; readonly heard: string[] } {
  const heard: string[] = [];
  const clock = new ExecutionClock({
    onFlush: () => heard.push(`flush ${performance.now()}`),
    onWatch: () => heard.push(`watch ${performance.now()}`),
    onTimeout: () => heard.push(`timeout ${performance.now()}`),
  });
  return { clock, heard };
}

test("a long execution passes every stage once", () => {
  const { clock, heard } = createClock();
  const start = performance.now();
  clock.start(100);
  vi.advanceTimersByTime(1000);
  expect(heard).toEqual([`flush ${start + 5}`, `watch ${start + 40}`, `timeout ${start + 100}`]);
});

test("an execution with a tiny limit times out before the first stage", () => {
  const { clock, heard } = createClock();
  const start = performance.now();
  clock.start(2);
  vi.advanceTimersByTime(1000);
  expect(heard).toEqual([`timeout ${start + 2}`]);
});

test("short executions share a timer and reach no stage", () => {
  const { clock, heard } = createClock();
  for (let index = 0; index < 50; index += 1) {
    clock.start(1000);
    vi.advanceTimersByTime(1);
    clock.stop();
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  }
  vi.advanceTimersByTime(10_000);
  expect(heard).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test("time spent waiting for calls does not count, however they overlap", () => {
  const { clock, heard } = createClock();
  const start = performance.now();
  clock.start(100);
  vi.advanceTimersByTime(50);
  clock.pause();
  vi.advanceTimersByTime(500);
  clock.pause();
  clock.resume();
  vi.advanceTimersByTime(500);
  clock.resume();
  vi.advanceTimersByTime(1000);
  expect(heard.at(-1)).toBe(`timeout ${start + 1100}`);
});

test("no limit means no timer once the stages are over", () => {
  const { clock, heard } = createClock();
  clock.start(null);
  vi.advanceTimersByTime(1000);
  expect(heard).toHaveLength(2);
  expect(vi.getTimerCount()).toBe(0);
});
