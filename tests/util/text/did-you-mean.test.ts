import { expect, test } from "vitest";
import { nearest } from "../../../src/util/text/did-you-mean.ts";

test.each([
  ["max_dept", "max_depth"],
  ["maxDepth", "max_depth"],
  ["max-depth", "max_depth"],
  ["modle", "model"],
  ["rml", "rlm"],
  ["zebra", undefined],
  ["", undefined],
])("nearest(%j) is %j", (word, expected) => {
  expect(nearest(word, ["model", "max_depth", "rlm"])).toBe(expected);
});
