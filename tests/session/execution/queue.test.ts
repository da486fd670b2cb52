import { expect, test } from "vitest";
import { Queue } from "../../../src/session/execution/queue.ts";
import { KeepAlive } from "../../../src/session/keep-alive.ts";
import { ActiveWork } from "../../../src/util/async/active-work.ts";

const createQueue = (maxWaiting = 10): Queue<string> => new Queue(maxWaiting, new KeepAlive(), new ActiveWork());

test("Queue runs one entry at a time, in the order in which they were added", () => {
  const queue = createQueue();
  for (const entry of ["a", "b"]) queue.add(entry);
  expect([queue.next(), queue.next(), queue.running, queue.waiting]).toEqual(["a", undefined, "a", 1]);
  queue.release();
  expect([queue.running, queue.next()]).toEqual([undefined, "b"]);
  expect([queue.some((entry) => entry === "b"), queue.some((entry) => entry === "a")]).toEqual([true, false]);
});

test("Queue is full when as many entries wait as may", () => {
  const queue = createQueue(1);
  queue.add("a");
  expect(queue.isFull).toBe(true);
  queue.next();
  expect(queue.isFull).toBe(false);
});

test("Queue removes a waiting entry, but not the running one", () => {
  const queue = createQueue();
  for (const entry of ["a", "b"]) queue.add(entry);
  queue.next();
  expect([queue.remove("a"), queue.remove("b"), queue.waiting]).toEqual([false, true, 0]);
});

test("Queue starts nothing once it is closed", () => {
  const queue = createQueue();
  for (const entry of ["a", "b", "c"]) queue.add(entry);
  queue.next();
  expect(queue.close()).toEqual(["b", "c"]);
  queue.add("d");
  queue.release();
  expect(queue.next()).toBeUndefined();
});

test("Queue keeps its session alive while an entry runs", () => {
  const keepAlive = new KeepAlive();
  const queue = new Queue<string>(1, keepAlive, new ActiveWork());
  queue.add("a");
  expect(keepAlive.lastUsedAt).toBe(0);
  queue.next();
  expect(keepAlive.lastUsedAt).toBeGreaterThan(0);
  queue.release();
  const { lastUsedAt } = keepAlive;
  const hold = keepAlive.hold();
  hold[Symbol.dispose]();
  hold[Symbol.dispose]();
  expect(keepAlive.lastUsedAt).toBeGreaterThanOrEqual(lastUsedAt);
});
