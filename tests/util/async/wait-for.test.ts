import { expect, test, vi } from "vitest";
import { waitFor } from "../../../src/util/async/wait-for.ts";

test("tells whether it was settled in time, either way", async () => {
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

test("whoever waits together is told together", async () => {
  let resolve = (): void => {};
  const work = new Promise<void>((done) => (resolve = done));
  const waiting = Array.from({ length: 100 }, () => waitFor(work, 10_000));
  resolve();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
  expect(await waitFor(work, 10_000)).toBe(true);
});

test("asking again and again leaves nothing with what is waited for", async () => {
  const work = new Promise<void>(() => {});
  const then = vi.spyOn(work, "then");
  for (let i = 0; i < 100; i += 1) expect(await waitFor(work, 0)).toBe(false);
  expect(then).toHaveBeenCalledTimes(1);
});
