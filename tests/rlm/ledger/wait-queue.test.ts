import { expect, test } from "vitest";
import { WaitQueue } from "../../../src/rlm/ledger/wait-queue.ts";

test("a thousand waiters of a group are not attempted one by one while the first does not fit", () => {
  const queue = new WaitQueue();
  const group = {};
  let attempts = 0;
  const attempt = (): boolean => {
    attempts += 1;
    return false;
  };
  for (let index = 0; index < 1000; index += 1) queue.add({ group, usage: { tokens: 100 + index }, attempt });
  for (let index = 0; index < 1000; index += 1) queue.wake();
  expect(attempts).toBe(1000);
});

test("waiters that fit are attempted once, in order of arrival, whatever they want", () => {
  const queue = new WaitQueue();
  const group = {};
  const attempted: number[] = [];
  const leave = [3, 1, 2, 1, 3].map((tokens, index) => {
    const attempt = (): boolean => attempted.push(index) > 0;
    return queue.add({ group, usage: { tokens }, attempt });
  });
  leave[1]?.();
  queue.wake();
  queue.wake();
  expect(attempted).toEqual([0, 2, 3, 4]);
});

test("a waiter that wants less, or is of another group, is attempted after one that does not fit", () => {
  const queue = new WaitQueue();
  const [own, other] = [{}, {}];
  const attempted: string[] = [];
  const add = (name: string, group: object, usage: { tokens: number; llmCalls: number }): void => {
    const attempt = (): boolean => {
      attempted.push(name);
      return false;
    };
    queue.add({ group, usage, attempt });
  };
  add("first", own, { tokens: 100, llmCalls: 1 });
  add("more", own, { tokens: 200, llmCalls: 1 });
  add("less", own, { tokens: 50, llmCalls: 2 });
  add("elsewhere", other, { tokens: 300, llmCalls: 1 });
  queue.wake();
  expect(attempted).toEqual(["first", "less", "elsewhere"]);
});
