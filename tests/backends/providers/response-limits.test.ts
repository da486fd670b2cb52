import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ResponseLimits } from "../../../src/backends/providers/response-limits.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openLimits(): { limits: ResponseLimits; signal: AbortSignal } {
  const controller = new AbortController();
  const limits = new ResponseLimits(controller, "b", { firstByteMs: 100, betweenBytesMs: 10, totalMs: 1000 });
  return { limits, signal: controller.signal };
}

test("a provider may be silent for longer before the answer than within it", () => {
  const { limits, signal } = openLimits();
  vi.advanceTimersByTime(99);
  limits.startAnswer();
  vi.advanceTimersByTime(9);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toMatchObject({ fault: "timeout", retryable: true });
});

test("a response of more than 256 MiB is aborted", () => {
  const { limits, signal } = openLimits();
  for (let n = 0; n < 256; n++) limits.received(1024 * 1024);
  expect(signal.aborted).toBe(false);
  limits.received(1);
  expect(signal.reason).toMatchObject({ fault: "malformed", retryable: false });
  limits.stop();
});

test("stopped limits leave no timer", () => {
  const { limits, signal } = openLimits();
  limits.startAnswer();
  limits.stop();
  expect(vi.getTimerCount()).toBe(0);
  expect(signal.aborted).toBe(false);
});
