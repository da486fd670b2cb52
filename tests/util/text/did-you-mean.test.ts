import { expect, test } from "vitest";
import { didYouMean } from "../../../src/util/text/did-you-mean.ts";

test.each([
  ["max_dept", "max_depth"],
  ["maxDepth", "max_depth"],
  ["max-depth", "max_depth"],
  ["modle", "model"],
  ["rml", "rlm"],
  ["zebra", undefined],
  ["", undefined],
])("didYouMean(%j) is %j", (word, expected) => {
  expect(didYouMean(word, ["model", "max_depth", "rlm"])).toBe(expected);
});
