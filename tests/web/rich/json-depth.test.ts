// JSON of a session that is nested without end.

import { expect, test } from "vitest";
import { parseShallow } from "../../../web/src/parts/rich/parse-shallow.ts";
import { readTable } from "../../../web/src/parts/rich/table/table-resource.ts";

const nest = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test.each([
  ["a list", '[1, {"a": [2]}]', [1, { a: [2] }]],
  [
    "brackets in texts",
    JSON.stringify(["[".repeat(5_000), '\\"[{'.repeat(500)]),
    ["[".repeat(5_000), '\\"[{'.repeat(500)],
  ],
  ["many lists beside each other", `[${nest(50)}${`,${nest(50)}`.repeat(2_000)}]`, expect.any(Array)],
  ["nothing", "", undefined],
  ["no JSON", "[1, ", undefined],
  ["deep lists", nest(1_000), undefined],
  ["deep objects", '{"a":'.repeat(1_000) + "1" + "}".repeat(1_000), undefined],
])("%s", (_, json, value) => {
  expect(parseShallow(json)).toEqual(value);
});

test("four megabytes of brackets are refused at once", () => {
  const before = performance.now();
  expect(parseShallow(nest(2_000_000))).toBeUndefined();
  expect(performance.now() - before).toBeLessThan(3_000); // parsed, it takes more than that on an idle machine
});

test("a table with deep cells is none", () => {
  const table = (cell: string): string => `{"schema":{"fields":[{"name":"a","type":"any"}]},"data":[{"a":${cell}}]}`;
  expect(readTable(table("[1]"))?.rows).toEqual([["[1]"]]);
  expect(readTable(table(nest(100_000)))).toBeUndefined();
});
