import { afterEach, expect, test, vi } from "vitest";
import { ActiveWork } from "../../../src/util/async/active-work.ts";
import { deferred } from "../../../src/util/async/deferred.ts";

afterEach(() => vi.restoreAllMocks());

/** Whether the last timer that was made keeps the process alive. */
function observeTimer(): () => boolean | undefined {
  const made = vi.spyOn(globalThis, "setInterval");
  return () => (made.mock.results.at(-1)?.value as NodeJS.Timeout | undefined)?.hasRef();
}

test("ActiveWork keeps the process alive while something is counted, and makes no timer before", () => {
  const keepsAlive = observeTimer();
  const work = new ActiveWork();
  const states = [keepsAlive()];
  for (const step of ["enter", "enter", "leave", "leave", "enter", "leave"] as const) {
    work[step]();
    states.push(keepsAlive());
  }
  expect(states).toEqual([undefined, true, true, true, false, true, false]);
  work.close();
});

test("ActiveWork.during counts work until it has settled, whichever way", async () => {
  const keepsAlive = observeTimer();
  const work = new ActiveWork();
  const first = deferred<string>();
  const done = work.during(() => first.promise);
  expect(keepsAlive()).toBe(true);
  first.resolve("done");
  expect([await done, keepsAlive()]).toEqual(["done", false]);
  const failing = work.during(() => Promise.reject(new Error("on purpose")));
  expect(keepsAlive()).toBe(true);
  await expect(failing).rejects.toThrow("on purpose");
  expect(keepsAlive()).toBe(false);
  work.close();
});

test("ActiveWork counts again after it was closed", () => {
  const keepsAlive = observeTimer();
  const work = new ActiveWork();
  work.enter();
  work.close();
  work.leave();
  work.enter();
  expect(keepsAlive()).toBe(true);
  work.leave();
  expect(keepsAlive()).toBe(false);
  work.close();
});
