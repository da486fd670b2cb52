import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PausableTimer } from "../../../src/util/async/pausable-timer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("PausableTimer fires once, after its time without pauses", () => {
  const onEnd = vi.fn();
  const timer = new PausableTimer(100, onEnd);
  vi.advanceTimersByTime(60);
  timer.pause();
  timer.pause();
  vi.advanceTimersByTime(1000);
  timer.resume();
  timer.resume();
  vi.advanceTimersByTime(39);
  expect(onEnd).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(onEnd).toHaveBeenCalledOnce();
});

test("PausableTimer never fires once stopped", () => {
  const onEnd = vi.fn();
  for (const isPaused of [true, false]) {
    const timer = new PausableTimer(100, onEnd);
    if (isPaused) timer.pause();
    timer.stop();
    timer.pause();
    timer.resume();
  }
  vi.advanceTimersByTime(1000);
  expect(onEnd).not.toHaveBeenCalled();
});

test("PausableTimer may be longer than the timers of Node", () => {
  const onEnd = vi.fn();
  const timer = new PausableTimer(2 ** 32, onEnd);
  vi.advanceTimersByTime(2 ** 32 - 10);
  expect(onEnd).not.toHaveBeenCalled();
  vi.advanceTimersByTime(20);
  expect(onEnd).toHaveBeenCalledOnce();
  timer.stop();
});
