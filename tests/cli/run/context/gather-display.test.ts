import { expect, test } from "vitest";
import { describeReading } from "../../../../src/cli/run/context/gather-display.ts";

test("reading the context is mentioned after two seconds", () => {
  expect([0, 1_999, 2_000, 12_345, 61_000].map(describeReading)).toEqual([
    "",
    "",
    "reading the context: 2 s",
    "reading the context: 12 s",
    "reading the context: 1 min 1 s",
  ]);
});
