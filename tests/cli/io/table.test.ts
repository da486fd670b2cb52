import { expect, test } from "vitest";
import { toTable, type Column } from "../../../src/cli/io/table.ts";

const ID = "r-0123456789abcdef";
const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "WHEN", leftOut: 2 },
  { title: "MODEL", least: 6, leftOut: 1 },
  { title: "QUESTION", least: 8 },
];
const ROWS = [
  [ID, "2026-01-02 03:04", "a-model-with-a-long-name", "How many words are in all of these books?"],
  [ID, "2026-01-02 03:04", "small", "長い質問です"],
];

function linesAt(width: number): string[] {
  return toTable(COLUMNS, ROWS, width).trimEnd().split("\n");
}

test("a table that fits is as wide as its content", () => {
  expect(linesAt(Infinity)).toEqual([
    `ID                  WHEN              MODEL                     QUESTION`,
    `${ID}  2026-01-02 03:04  a-model-with-a-long-name  How many words are in all of these books?`,
    `${ID}  2026-01-02 03:04  small                     長い質問です`,
  ]);
});

test("free text is truncated first, the widest column the most", () => {
  expect(linesAt(80)).toEqual([
    `ID                  WHEN              MODEL                 QUESTION`,
    `${ID}  2026-01-02 03:04  a-model-with-a-long…  How many words are …`,
    `${ID}  2026-01-02 03:04  small                 長い質問です`,
  ]);
});

test.each([80, 60, 40])("at %i columns ids are whole and no line is wider", (width) => {
  const lines = linesAt(width);
  expect(lines.every((line) => line.length <= width)).toBe(true);
  expect(lines.slice(1).every((line) => line.startsWith(`${ID}  `))).toBe(true);
});

test("columns are left out in their order where truncation is not enough", () => {
  expect(linesAt(50)[0]).toMatch(/^ID +WHEN +QUESTION$/);
  expect(linesAt(40)[0]).toMatch(/^ID +QUESTION$/);
});

test("an id that is wider than the terminal is whole all the same", () => {
  expect(linesAt(10)).toEqual(["ID                  QUESTION", `${ID}  How man…`, `${ID}  長い質…`]);
});
