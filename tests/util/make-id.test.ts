import { expect, test } from "vitest";
import { idMaker } from "../../src/util/make-id.ts";

test("short ids are counted", () => {
  const make = idMaker("s", "short");
  expect([make(), make(), make()]).toEqual(["s1", "s2", "s3"]);
});

test("random ids have 64 bits and are unique", () => {
  const make = idMaker("t", "random");
  const made = Array.from({ length: 1000 }, make);
  expect(made.filter((id) => !/^t-[\da-f]{16}$/.test(id))).toEqual([]);
  expect(new Set(made).size).toBe(1000);
});

test("an unknown style is refused", () => {
  expect(() => idMaker("s", "long" as never)).toThrow("Cannot use 'long' as ids: 'short' or 'random'");
});
