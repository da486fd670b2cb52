import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { CachedAnswer } from "../../src/protocol/usage.ts";
import { CallCache } from "../../src/store/call-cache.ts";
import { openRuns } from "./runs/recorded-run.ts";

const hash = (number: number): string => number.toString(16).padStart(64, "0");
const answer = (text: string): CachedAnswer => ({ text, reasoning: "", finishReason: "stop", isCut: false });

test("memory is limited by the size of answers, and the oldest are evicted", async () => {
  const cache = new CallCache(undefined, { memoryCharacters: 100 });
  for (let number = 1; number <= 10; number += 1) cache.put(hash(number), answer("x".repeat(30)));
  const known = await Promise.all([7, 8, 9, 10].map((number) => cache.get(hash(number))));
  expect(known.map((one) => one !== undefined)).toEqual([false, true, true, true]);
  cache.put(hash(10), answer("y"));
  expect(await cache.get(hash(10))).toEqual(answer("y"));
});

test("an answer that is too long is not cached", async () => {
  const cache = new CallCache(undefined);
  cache.put(hash(1), answer("x".repeat(1024 * 1024 + 1)));
  expect(await cache.get(hash(1))).toBeUndefined();
});

test.each([
  ["files", { files: 4 }],
  ["bytes", { fileBytes: 4 * JSON.stringify(answer("01")).length }],
])("the folder of a long-lived process is limited in %s", async (_, bounds) => {
  using runs = openRuns();
  const cache = new CallCache(runs.folder, { ...bounds, writesBetweenPrunes: 5 });
  for (let number = 1; number <= 16; number += 1) {
    cache.put(hash(number), answer(String(number).padStart(2, "0")));
    await expect.poll(() => readdirSync(runs.folder)).toContain(`${hash(number)}.json`);
  }
  await expect.poll(() => readdirSync(runs.folder).length).toBe(4);
  expect(await new CallCache(runs.folder).get(hash(16))).toEqual(answer("16"));
});
