import { assert, json, property } from "fast-check";
import { expect, test } from "vitest";
import { parseStrictJSON } from "../../../../src/server/net/bodies/strict-json.ts";

test("strings of any length and content are read", () => {
  for (const piece of ["x", "\\", "\n", '"', "{[:,]}", '\\"']) {
    const value = { code: piece.repeat(3_000_000), after: [piece] };
    expect(parseStrictJSON(JSON.stringify(value)), JSON.stringify(piece)).toEqual(value);
  }
});

test("any JSON is read like JSON.parse() reads it", () => {
  assert(
    property(json({ maxDepth: 10 }), (text) => {
      expect(parseStrictJSON(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("a duplicate name is found at any depth and in any spelling", () => {
  const twice = [`{"a":1,"a":2}`, `[{"x":{"\\u0061":1,"a":2}}]`, `{"a\\"":"\\\\","a\\"":1}`];
  for (const text of twice) expect(() => parseStrictJSON(text), text).toThrow("twice");
  expect(parseStrictJSON(`{"a":{"a":[{"a":"a"},{"a":"a"}]}}`)).toEqual({ a: { a: [{ a: "a" }, { a: "a" }] } });
});

test("too many values or too deep nesting are refused before memory is allocated", () => {
  const many = 20_000_000;
  const bombs = [
    "[".repeat(many) + "]".repeat(many),
    "[".repeat(many),
    `[${"0,".repeat(many)}0]`,
    `{"a":[${"{},".repeat(many)}0]}`,
    `[${'"",'.repeat(many)}""]`,
  ];
  for (const text of bombs) {
    const before = process.memoryUsage().heapUsed;
    expect(() => parseStrictJSON(text), text.slice(0, 20)).toThrow(/nested deeper than 64|more than 1000000 values/);
    expect(process.memoryUsage().heapUsed - before, text.slice(0, 20)).toBeLessThan(256 * 1024 * 1024);
  }
});

test("text that is not JSON is refused, wherever it ends", () => {
  const text = `{"a\\"b":[1,{"c":"d\\\\"}],"e":null}`;
  expect(parseStrictJSON(text)).toEqual({ 'a"b': [1, { c: "d\\" }], e: null });
  for (let end = 0; end < text.length; end += 1) {
    expect(() => parseStrictJSON(text.slice(0, end)), text.slice(0, end)).toThrow("The body is not JSON in UTF-8");
  }
  for (const wrong of ['"\\', '{"\\u00":1}', "]]]]", "}{", '{"a" "b"}']) {
    expect(() => parseStrictJSON(wrong), wrong).toThrow("The body is not JSON in UTF-8");
  }
});
