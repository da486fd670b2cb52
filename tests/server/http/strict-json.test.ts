import { assert, json, property } from "fast-check";
import { expect, test } from "vitest";
import { parseStrictJSON } from "../../../src/server/http/strict-json.ts";

test("strings of any length and any content are read", () => {
  for (const piece of ["x", "\\", "\n", '"', "{[:,]}", '\\"']) {
    const value = { code: piece.repeat(3_000_000), after: [piece] };
    expect(parseStrictJSON(JSON.stringify(value)), JSON.stringify(piece)).toEqual(value);
  }
});

test("whatever JSON there is, is read as everybody reads it", () => {
  assert(
    property(json({ maxDepth: 10 }), (text) => {
      expect(parseStrictJSON(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("a name twice is found wherever it is and however it is written", () => {
  const twice = [`{"a":1,"a":2}`, `[{"x":{"\\u0061":1,"a":2}}]`, `{"a\\"":"\\\\","a\\"":1}`];
  for (const text of twice) expect(() => parseStrictJSON(text), text).toThrow("twice");
  expect(parseStrictJSON(`{"a":{"a":[{"a":"a"},{"a":"a"}]}}`)).toEqual({ a: { a: [{ a: "a" }, { a: "a" }] } });
});
