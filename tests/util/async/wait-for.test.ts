import { expect, test, vi } from "vitest";
import { waitFor } from "../../../src/util/async/wait-for.ts";

test("waitFor() resolves to whether the promise settled in time, either way", async () => {
  const { signal } = new AbortController();
  expect(await waitFor(Promise.resolve(), 10_000, signal)).toBe(true);
  expect(await waitFor(Promise.reject(new Error("no")), 10_000)).toBe(true);
  expect(await waitFor(new Promise(() => {}), 1)).toBe(false);
  expect(await waitFor(Promise.resolve(), 10_000, AbortSignal.abort())).toBe(false);
  const gone = new AbortController();
  const waiting = waitFor(new Promise(() => {}), 10_000, gone.signal);
  gone.abort();
  expect(await waiting).toBe(false);
});

test("waitFor() resolves all waiters when the promise settles", async () => {
  let resolve = (): void => {};
  const work = new Promise<void>((done) => (resolve = done));
  const waiting = Array.from({ length: 100 }, () => waitFor(work, 10_000));
  resolve();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
  expect(await waitFor(work, 10_000)).toBe(true);
});

test("waitFor() adds one reaction to a promise that is polled many times", async () => {
  const work = new Promise<void>(() => {});
  const then = vi.spyOn(work, "then");
  for (let i = 0; i < 100; i += 1) expect(await waitFor(work, 0)).toBe(false);
  expect(then).toHaveBeenCalledTimes(1);
});
