import { expect, test } from "vitest";
import { textWidth, toGraphemes, truncateToWidth } from "../../../src/util/text/text-width.ts";

test.each([
  ["plain", 5],
  ["", 0],
  ["漢字", 4],
  ["한글", 4],
  ["Ａ", 2],
  ["ｱ", 1],
  ["é", 1],
  ["e\u0301", 1],
  ["👍🏽", 2],
  ["👩‍👩‍👧", 2],
  ["❤\uFE0F", 2],
  ["❤", 1],
  ["\u200B", 0],
  ["𠀀", 2],
  ["日本語 text", 11],
])("%j takes %i columns", (text, columns) => {
  expect(textWidth(text)).toBe(columns);
});

test("graphemes are the characters that a reader counts", () => {
  expect(toGraphemes("ae\u0301👩‍👩‍👧b")).toEqual(["a", "e\u0301", "👩‍👩‍👧", "b"]);
});

test.each([
  ["abcdef", 6, "abcdef"],
  ["abcdef", 5, "abcd…"],
  ["漢字", 4, "漢字"],
  ["漢字漢", 5, "漢字…"],
  ["漢字漢", 4, "漢…"],
])("%j in %i columns is %j", (text, columns, expected) => {
  expect(truncateToWidth(text, columns)).toBe(expected);
});
