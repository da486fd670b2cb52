import { describe, expect, test } from "vitest";
import { readTable } from "../../../web/src/parts/rich/table/table-resource.ts";

const FIELDS = [
  { name: "index", type: "integer" },
  { name: "name", type: "string" },
  { name: "size", type: "number" },
];
const table = (more: object = {}): string =>
  JSON.stringify({
    schema: { fields: FIELDS, primaryKey: ["index"] },
    data: [{ index: 0, name: "a", size: 1.5 }],
    ...more,
  });

describe("readTable()", () => {
  test("has columns with their kind, rows in their order, and what is not here", () => {
    expect(readTable(table({ totalRows: 5_000, totalColumns: 2 }))).toEqual({
      columns: [
        { name: "index", isNumber: true, isKey: true },
        { name: "name", isNumber: false, isKey: false },
        { name: "size", isNumber: true, isKey: false },
      ],
      rows: [[0, "a", 1.5]],
      totalRows: 5_000,
      totalColumns: 2,
    });
  });

  test("cells that are missing, inherited or structured are plain values", () => {
    const data: unknown[] = [{ name: { a: [1] }, size: true }, null, [1], "text", { toString: 1, index: null }];
    expect(readTable(table({ data }))?.rows).toEqual([
      [null, '{"a":[1]}', true],
      [null, null, null],
      [null, null, null],
      [null, null, null],
      [null, null, null],
    ]);
    const fields = [
      { name: "constructor", type: "string" },
      { name: "__proto__", type: "string" },
    ];
    expect(readTable(JSON.stringify({ schema: { fields }, data: [{}] }))?.rows).toEqual([[null, null]]);
  });

  test.each([
    [
      ["2026-03-06T00:00:00.000", null, "2026-03-07T00:00:00.000"],
      ["2026-03-06", null, "2026-03-07"],
    ],
    [
      ["2026-03-06T00:00:00.000", "2026-03-06T12:30:00.000"],
      ["2026-03-06 00:00:00", "2026-03-06 12:30:00"],
    ],
    [["2026-03-06T00:00:00.250"], ["2026-03-06 00:00:00.250"]],
    [["2026-03-06T00:00:00.000Z"], ["2026-03-06T00:00:00.000Z"]],
    [
      [7, "soon"],
      [7, "soon"],
    ],
  ])("times are as short as their column allows: %j", (times, shown) => {
    const fields = [
      { name: "at", type: "datetime" },
      { name: "text", type: "string" },
    ];
    const data = times.map((at) => ({ at, text: "2026-03-06T00:00:00.000" }));
    const rows = readTable(table({ schema: { fields }, data }))?.rows;
    expect(rows?.map(([at]) => at)).toEqual(shown);
    expect(rows?.[0]?.[1]).toBe("2026-03-06T00:00:00.000");
  });

  test("a total is at least what is here", () => {
    expect(readTable(table({ totalRows: -1, totalColumns: "many" }))).toMatchObject({ totalRows: 1, totalColumns: 2 });
  });

  test("is bounded", () => {
    const fields = Array.from({ length: 2_000 }, (_, index) => ({ name: `c${index}` }));
    const wide = readTable(JSON.stringify({ schema: { fields }, data: Array.from({ length: 5_000 }, () => ({})) }));
    expect([wide?.columns.length, wide?.rows.length]).toEqual([500, 1_000]);
  });

  test.each([
    "",
    "{",
    "null",
    "[]",
    "{}",
    `{"schema":{}}`,
    `{"schema":{"fields":[]},"data":[]}`,
    `{"schema":{"fields":{}},"data":{}}`,
  ])("%j is no table", (content) => {
    expect(readTable(content)).toBeUndefined();
  });
});
