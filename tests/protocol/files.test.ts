// Messages of file jobs: the fixtures that the Python tests share, and invalid ones.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseJobAnswer } from "../../src/protocol/worker/job-answers.ts";

interface Fixture {
  readonly name: string;
  readonly line: string;
  readonly parsed: unknown;
}

const fixtures = JSON.parse(readFileSync("tests/fixtures/messages/job-answers.json", "utf8")) as Fixture[];
const ENTRY = { type: "entry", name: "f", path: "f", kind: "file", size: 0, modifiedMs: 0, mode: 0 };

test.each(fixtures)("$name", ({ line, parsed }) => {
  expect(parseJobAnswer(JSON.parse(line))).toEqual(parsed);
});

test.each([
  ["a number", 7],
  ["a list", []],
  ["no type", {}],
  ["an unknown type", { type: "shell" }],
  ["the type __proto__", { type: "__proto__" }],
  ["a negative size", { type: "size", size: -1, modifiedMs: 0, version: "0-0-1" }],
  ["a version that breaks a header", { type: "size", size: 1, modifiedMs: 0, version: '1"\r\nX: y' }],
  ["a size without a time", { type: "size", size: 1 }],
  ["more data than a job ever sends at once", { type: "data", bytes: 2 ** 40 }],
  ["an entry without a name", { ...ENTRY, name: undefined }],
  ["an unknown kind", { ...ENTRY, kind: "socket" }],
  ["an impossible time", { ...ENTRY, modifiedMs: 1e300 }],
  ["an impossible mode", { ...ENTRY, mode: 0o10000 }],
  ["half a rename", { type: "change", change: "renamed", path: "a" }],
  ["an unknown change", { type: "change", change: "moved", path: "a" }],
  ["an unknown reason", { type: "error", reason: "weather", why: "" }],
])("rejects %s", (_, message) => {
  expect(parseJobAnswer(message)).toBeNull();
});
