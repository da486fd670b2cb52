import { expect, test } from "vitest";
import { Books } from "../../../src/rlm/ledger/wait-queue.ts";

const open = (): Books => new Books({ finishingShare: 0.1, now: () => 0, onLimit: () => {} });

test("a thousand who want the same are not asked one by one while the first does not fit", () => {
  const books = open();
  const line = {};
  let attempts = 0;
  const attempt = (): boolean => {
    attempts += 1;
    return false;
  };
  for (let index = 0; index < 1000; index += 1) books.wait({ line, amounts: { tokens: 100 + index }, attempt });
  for (let index = 0; index < 1000; index += 1) books.wake();
  expect(attempts).toBe(1000);
});

test("those who fit are asked once, in the order in which they came, whatever they want", () => {
  const books = open();
  const line = {};
  const asked: number[] = [];
  const stops = [3, 1, 2, 1, 3].map((tokens, index) => {
    const attempt = (): boolean => asked.push(index) > 0;
    return books.wait({ line, amounts: { tokens }, attempt });
  });
  stops[1]?.stop();
  books.wake();
  books.wake();
  expect(asked).toEqual([0, 2, 3, 4]);
});

test("one who wants less, or waits for other limits, is asked behind one that does not fit", () => {
  const books = open();
  const [mine, other] = [{}, {}];
  const asked: string[] = [];
  const wait = (name: string, line: object, amounts: { tokens: number; llmCalls: number }): void => {
    books.wait({
      line,
      amounts,
      attempt: () => {
        asked.push(name);
        return false;
      },
    });
  };
  wait("first", mine, { tokens: 100, llmCalls: 1 });
  wait("more", mine, { tokens: 200, llmCalls: 1 });
  wait("less", mine, { tokens: 50, llmCalls: 2 });
  wait("elsewhere", other, { tokens: 300, llmCalls: 1 });
  books.wake();
  expect(asked).toEqual(["first", "less", "elsewhere"]);
});
