import { expect, test } from "vitest";
import { Recall } from "../../../web/src/sessions/editor/recall.ts";
import { splitSignature } from "../../../web/src/sessions/editor/split-signature.ts";

test("earlier code comes back, and what was typed stays below it", () => {
  const recall = new Recall();
  const codes = ["a", "b", "b", "c"];
  expect(recall.step("newer", "typed", codes)).toBeUndefined();
  expect(recall.step("older", "typed", codes)).toBe("c");
  expect(recall.step("older", "c", codes)).toBe("b");
  expect(recall.step("older", "b", codes)).toBe("a");
  expect(recall.step("older", "a", codes)).toBeUndefined();
  expect(recall.step("newer", "a", codes)).toBe("b");
  expect(recall.step("newer", "b", codes)).toBe("c");
  expect(recall.step("newer", "c", codes)).toBe("typed");
});

test("recalled code that is changed is what was typed", () => {
  const recall = new Recall();
  expect(recall.step("older", "", ["a", "b"])).toBe("b");
  expect(recall.step("older", "b2", ["a", "b"])).toBe("b");
  expect(recall.step("newer", "b", ["a", "b"])).toBe("b2");
});

test("the parameters of a signature are found, whatever their defaults are", () => {
  const text = "(a, /, b='x, y', *args, c: dict[str, int] = {1: (2, 3)}, *, d) -> list[int]";
  const parts = splitSignature(text);
  expect(parts.map((part) => part.text).join("")).toBe(text);
  expect(parts.filter(({ index }) => index !== null).map((part) => [part.index, part.text.trim()])).toEqual([
    [0, "a"],
    [1, "b='x, y'"],
    [2, "*args"],
    [3, "c: dict[str, int] = {1: (2, 3)}"],
    [4, "d"],
  ]);
});

test("what is no signature is left alone", () => {
  expect(splitSignature("not one")).toEqual([{ text: "not one", index: null }]);
  expect(splitSignature("(never closed")).toEqual([{ text: "(never closed", index: null }]);
});
