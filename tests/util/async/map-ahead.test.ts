import { expect, test } from "vitest";
import { mapAhead } from "../../../src/util/async/map-ahead.ts";

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** Work that ends when it is told to, in any order. */
function heldWork(): { work: (item: number) => Promise<number>; started: number[]; end: (item: number) => void } {
  const ends = new Map<number, () => void>();
  const started: number[] = [];
  const work = (item: number): Promise<number> => {
    started.push(item);
    return new Promise((resolve) => ends.set(item, () => resolve(item * 10)));
  };
  return { work, started, end: (item) => ends.get(item)?.() };
}

test("mapAhead() yields in order, however the work ends", async () => {
  const { work, started, end } = heldWork();
  const all = collect(mapAhead([1, 2, 3, 4], work, { count: 3 }));
  await Promise.resolve();
  expect(started).toEqual([1, 2, 3]);
  for (const item of [3, 2, 1]) end(item);
  await expect.poll(() => started).toEqual([1, 2, 3, 4]);
  end(4);
  expect(await all).toEqual([10, 20, 30, 40]);
});

test("mapAhead() bounds the weight, and starts one item of any weight", async () => {
  const { work, started, end } = heldWork();
  const all = collect(mapAhead([5, 1, 2, 9], work, { count: 10, weight: 6, weightOf: (item) => item }));
  await Promise.resolve();
  expect(started).toEqual([5, 1]);
  end(5);
  await expect.poll(() => started).toEqual([5, 1, 2, 9]);
  for (const item of [1, 2, 9]) end(item);
  expect(await all).toHaveLength(4);
});

test("mapAhead() ends with the first error in order, and reports no other", async () => {
  const work = (item: number): Promise<number> =>
    item === 1 ? Promise.resolve(1) : Promise.reject(new Error(`no ${item}`));
  await expect(collect(mapAhead([1, 2, 3], work, { count: 3 }))).rejects.toThrow("no 2");
});

test("mapAhead() of nothing is nothing", async () => {
  expect(await collect(mapAhead([], () => Promise.resolve(1), { count: 1 }))).toEqual([]);
});
