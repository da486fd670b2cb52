import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "../../../src/util/async/on-abort.ts";

test("onAbort() calls every listener once, in the order of registration", () => {
  const controller = new AbortController();
  const called: number[] = [];
  for (const name of [1, 2, 3]) onAbort(controller.signal, () => called.push(name));
  controller.abort();
  expect(called).toEqual([1, 2, 3]);
});

test("onAbort() skips removed listeners, also those that another listener removes", () => {
  const controller = new AbortController();
  const called: string[] = [];
  const listener = (): void => void called.push("twice");
  onAbort(controller.signal, () => {
    called.push("first");
    stop();
  });
  const stop = onAbort(controller.signal, () => called.push("stopped by the first"));
  onAbort(controller.signal, listener)();
  onAbort(controller.signal, listener);
  controller.abort();
  expect(called).toEqual(["first", "twice"]);
});

test("onAbort() adds one native listener for a thousand of ours, and removes it with the last", () => {
  const { signal } = new AbortController();
  const stops = Array.from({ length: 1000 }, () => onAbort(signal, () => {}));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const stop of stops) stop();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("onAbort() can listen again after all have stopped; stopping twice removes no other listener", () => {
  const controller = new AbortController();
  const stop = onAbort(controller.signal, () => {});
  stop();
  let isCalled = false;
  onAbort(controller.signal, () => {
    isCalled = true;
  });
  stop();
  controller.abort();
  expect(isCalled).toBe(true);
});

test("onAbort() ignores a signal that is already aborted", () => {
  let isCalled = false;
  onAbort(AbortSignal.abort(), () => {
    isCalled = true;
  })();
  expect(isCalled).toBe(false);
});
