import { expect, test } from "vitest";
import { idMaker } from "../../src/util/make-id.ts";

test("short ids are counted", () => {
  const make = idMaker("s", "short");
  expect([make(), make(), make()]).toEqual(["s1", "s2", "s3"]);
});

test("random ids have 64 bits, and no two are the same", () => {
  const make = idMaker("t", "random");
  const made = Array.from({ length: 1000 }, make);
  expect(made.filter((id) => !/^t-[\da-f]{16}$/.test(id))).toEqual([]);
  expect(new Set(made).size).toBe(1000);
});

test("a style that is none is told", () => {
  expect(() => idMaker("s", "long" as never)).toThrow("Cannot use 'long' as ids: 'short' or 'random'");
});
