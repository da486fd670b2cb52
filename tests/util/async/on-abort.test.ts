import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "../../../src/util/async/on-abort.ts";

test("all who listen are told once, in the order in which they came", () => {
  const controller = new AbortController();
  const told: number[] = [];
  for (const name of [1, 2, 3]) onAbort(controller.signal, () => told.push(name));
  controller.abort();
  expect(told).toEqual([1, 2, 3]);
});

test("whoever stopped is not told, also when another's listener stops it", () => {
  const controller = new AbortController();
  const told: string[] = [];
  const listener = (): void => void told.push("twice");
  onAbort(controller.signal, () => {
    told.push("first");
    stop();
  });
  const stop = onAbort(controller.signal, () => told.push("stopped by the first"));
  onAbort(controller.signal, listener)();
  onAbort(controller.signal, listener);
  controller.abort();
  expect(told).toEqual(["first", "twice"]);
});

test("a thousand who listen are one listener of the signal, and none when all have stopped", () => {
  const { signal } = new AbortController();
  const stops = Array.from({ length: 1000 }, () => onAbort(signal, () => {}));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const stop of stops) stop();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("listening begins again after all have stopped; a stop that comes twice stops nobody else", () => {
  const controller = new AbortController();
  const stop = onAbort(controller.signal, () => {});
  stop();
  let isTold = false;
  onAbort(controller.signal, () => {
    isTold = true;
  });
  stop();
  controller.abort();
  expect(isTold).toBe(true);
});

test("a signal that has been aborted tells nobody", () => {
  let isTold = false;
  onAbort(AbortSignal.abort(), () => {
    isTold = true;
  })();
  expect(isTold).toBe(false);
});
