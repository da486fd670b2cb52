import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Watch } from "../../../src/backends/providers/watched-fetch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openWatch(): { watch: Watch; signal: AbortSignal } {
  const controller = new AbortController();
  const speaker = { backend: "b", secrets: [] };
  const watch = new Watch(controller, speaker, { firstByteMs: 100, betweenBytesMs: 10, totalMs: 1000 });
  return { watch, signal: controller.signal };
}

test("silence is allowed for longer before the answer begins than in its midst", () => {
  const { watch, signal } = openWatch();
  vi.advanceTimersByTime(99);
  watch.answering();
  vi.advanceTimersByTime(9);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toMatchObject({ fault: "timeout", retryable: true });
});

test("a watch that is stopped leaves no timer", () => {
  const { watch, signal } = openWatch();
  watch.answering();
  watch.stop();
  expect(vi.getTimerCount()).toBe(0);
  expect(signal.aborted).toBe(false);
});
