// Answers about a namespace as user code might forge them.

import { describe, expect, test } from "vitest";
import {
  parseCompletions,
  parseInspection,
  parseSignature,
  parseStatistics,
  parseVariableList,
} from "../../src/protocol/worker/worker-answers.ts";

const X = { name: "x", type: "int", module: "builtins", kind: "variable" };

describe("parseVariableList()", () => {
  test("reads the fields of a worker's answer, and no others", () => {
    const sent = { ...X, length: 3, shape: [1, 2], dtype: "int64", preview: "1", secret: "s", __proto__: { a: 1 } };
    expect(parseVariableList({ total: 1, variables: [sent] })).toEqual({
      total: 1,
      variables: [{ ...X, length: 3, shape: [1, 2], dtype: "int64", preview: "1" }],
    });
  });

  test("leaves out facts of the wrong type", () => {
    const odd = { ...X, module: 7, length: -1, shape: [1, "2"], dtype: {}, preview: "p".repeat(2001) };
    expect(parseVariableList({ total: 1, variables: [odd] })?.variables).toEqual([{ ...X, module: null }]);
  });

  test.each([
    ["nothing", {}],
    ["an object for a list", { total: 1, variables: { length: 1 } }],
    ["an entry that is null", { total: 1, variables: [null] }],
    ["an entry without a name", { total: 1, variables: [{ ...X, name: undefined }] }],
    ["a name that is a number", { total: 1, variables: [{ ...X, name: 7 }] }],
    ["a name that is too long", { total: 1, variables: [{ ...X, name: "x".repeat(513) }] }],
    ["an unknown kind", { total: 1, variables: [{ ...X, kind: "secret" }] }],
    ["a total below the number of entries", { total: 0, variables: [X] }],
    ["a total that is not an integer", { total: 1.5, variables: [X] }],
    ["more than 10,000", { total: 10_001, variables: Array.from({ length: 10_001 }, () => X) }],
  ])("rejects %s", (_, data) => expect(parseVariableList(data)).toBeUndefined());
});

describe("parseInspection()", () => {
  test("uses the requested name, not the worker's", () => {
    const found = parseInspection({ ...X, name: "other", found: true, incomplete: null }, "mine", 10);
    expect(found).toEqual({ ...X, name: "mine", errors: {}, incomplete: null });
  });

  test("leaves out texts that are too long and facts of the wrong type", () => {
    const found = parseInspection(
      {
        ...X,
        repr: { text: "r".repeat(21), total: 21 },
        str: { text: "ok", total: -1, ofFirst: "2" },
        columns: [{ name: "a" }],
        columnCount: "1",
        sizeBytes: 1e300,
        errors: { repr: 7, preview: "p", constructor: "c" },
        incomplete: "whenever",
      },
      "x",
      10,
    );
    expect(found).toEqual({ ...X, str: { text: "ok", total: null }, errors: { preview: "p" }, incomplete: null });
  });

  test("returns null for an unknown name, undefined for an invalid answer", () => {
    expect(parseInspection({ found: false }, "x", 10)).toBeNull();
    expect(parseInspection({ found: true }, "x", 10)).toBeUndefined();
  });
});

describe("parseCompletions()", () => {
  const good = { matches: [{ text: "x", type: "name", more: 1 }], total: 1, start: 0, end: 1, incomplete: null };

  test("reads a worker's answer", () => {
    expect(parseCompletions(good, 1)).toEqual({ ...good, matches: [{ text: "x", type: "name" }] });
    expect(parseCompletions({ incomplete: "crashed" }, 4)).toEqual({
      matches: [],
      total: 0,
      start: 4,
      end: 4,
      incomplete: "crashed",
    });
  });

  test.each([
    ["another cursor", { ...good, end: 2 }],
    ["a start behind the cursor", { ...good, start: 2 }],
    ["a negative start", { ...good, start: -1 }],
    ["an unknown type", { ...good, matches: [{ text: "x", type: "gift" }] }],
    ["a text that is too long", { ...good, matches: [{ text: "x".repeat(1025), type: "name" }] }],
    ["more than 500", { ...good, total: 501, matches: Array.from({ length: 501 }, () => good.matches[0]) }],
  ])("rejects %s", (_, data) => expect(parseCompletions(data, 1)).toBeUndefined());
});

test("parseSignature() reads a signature or null and rejects anything else", () => {
  const sent = { name: "f", signature: "(x)", documentation: "", parameter: 0 };
  expect(parseSignature({ signature: { ...sent, more: 1 } })).toEqual(sent);
  expect(parseSignature({ signature: { ...sent, parameter: -1 } })).toEqual({ ...sent, parameter: null });
  expect(parseSignature({ signature: null })).toBeNull();
  expect(parseSignature({})).toBeNull();
  expect(parseSignature({ signature: "f" })).toBeUndefined();
  expect(parseSignature({ signature: { ...sent, documentation: "d".repeat(8001) } })).toBeUndefined();
});

test("parseStatistics() rejects invalid counts and names", () => {
  expect(parseStatistics({ variableCount: 1, variables: ["x"], more: 1 })).toEqual({
    variableCount: 1,
    variables: ["x"],
  });
  expect(parseStatistics({ variableCount: 0, variables: ["x"] })).toBeUndefined();
  expect(parseStatistics({ variableCount: 1, variables: [7] })).toBeUndefined();
  expect(parseStatistics({})).toBeUndefined();
});
