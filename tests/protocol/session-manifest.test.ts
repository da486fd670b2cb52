// Manifests of session files as anybody might write them.

import { expect, test } from "vitest";
import { parseLoaded, parseManifest, parseSavedState } from "../../src/protocol/session-manifest.ts";

const STATE = {
  python: "3.11.2",
  implementation: "cpython",
  bytecode: "abc",
  names: ["x"],
  modules: ["os"],
  skipped: [{ name: "f", why: "it is open" }],
};
const MANIFEST = { ...STATE, format: 2, version: "1.0.0", created: "2026-01-01" };

test("a manifest and a saved state are read without unknown fields", () => {
  expect(parseManifest({ ...MANIFEST, more: 1 })).toEqual(MANIFEST);
  expect(parseSavedState({ ...STATE, more: 1 })).toEqual(STATE);
  expect(parseLoaded({ names: ["x"], skipped: [], more: 1 })).toEqual({ names: ["x"], count: 1, skipped: [] });
});

test("of another format only the number is read", () => {
  expect(parseManifest({ format: 3, names: 7 })).toEqual({ format: 3 });
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["a list", []],
  ["a format that is text", { ...MANIFEST, format: "2" }],
  ["no version", { ...MANIFEST, version: undefined }],
  ["a name that is a number", { ...MANIFEST, names: [7] }],
  ["a name without end", { ...MANIFEST, names: ["x".repeat(4097)] }],
  ["a skipped variable without a reason", { ...MANIFEST, skipped: [{ name: "x" }] }],
])("%s is not a manifest", (_, data) => {
  expect(parseManifest(data)).toBeNull();
});

test("200,000 invalid entries are refused at the first", () => {
  let reads = 0;
  const entry = {
    get name() {
      reads += 1;
      return 7;
    },
  };
  expect(parseSavedState({ ...STATE, skipped: Array.from({ length: 200_000 }, () => entry) })).toBeNull();
  expect(reads).toBeLessThan(10);
});
