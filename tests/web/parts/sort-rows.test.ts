import { expect, test } from "vitest";
import { sortRows } from "../../../web/src/parts/layout/sort-rows.ts";

const byKey = <Key>({ key }: { readonly key: Key }): Key => key;

test("sortRows() puts what is not known at the end, in both directions", () => {
  const rows = [{ key: 2 }, { key: null }, { key: 10 }];
  expect(sortRows(rows, byKey, false).map(byKey)).toEqual([2, 10, null]);
  expect(sortRows(rows, byKey, true).map(byKey)).toEqual([10, 2, null]);
});

test("sortRows() orders numbers inside of names as numbers", () => {
  const rows = ["t10", "t9", "T2"].map((key) => ({ key }));
  expect(sortRows(rows, byKey, false).map(byKey)).toEqual(["T2", "t9", "t10"]);
});

test("sortRows() keeps the order of equal rows, and the rows that it was given", () => {
  const rows = [
    { key: 1, name: "b" },
    { key: 1, name: "a" },
    { key: 0, name: "c" },
  ];
  expect(sortRows(rows, byKey, true).map(({ name }) => name)).toEqual(["b", "a", "c"]);
  expect(rows.map(({ name }) => name)).toEqual(["b", "a", "c"]);
});
