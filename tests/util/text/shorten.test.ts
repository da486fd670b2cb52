import * as fc from "fast-check";
import { expect, test } from "vitest";
import { shorten } from "../../../src/util/text/shorten.ts";

test.each([
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["a😀b", 3, "a…"],
  ["", 1, ""],
])("shorten(%j, %i) is %j", (text, maxCharacters, shown) => {
  expect(shorten(text, maxCharacters)).toBe(shown);
});

test("shorten() never exceeds the limit and breaks no surrogate pair", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, maxCharacters) => {
      const shown = shorten(text, maxCharacters);
      expect(shown.length).toBeLessThanOrEqual(maxCharacters);
      expect(shown).not.toMatch(/\p{Surrogate}/u);
    }),
  );
});
