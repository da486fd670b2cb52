// What a job answers, as both ends know it; and what is no answer.

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
  ["no object", 7],
  ["a list", []],
  ["no type", {}],
  ["an unknown type", { type: "shell" }],
  ["the name of a property", { type: "__proto__" }],
  ["a negative size", { type: "size", size: -1, modifiedMs: 0 }],
  ["a size without a time", { type: "size", size: 1 }],
  ["more data than a job ever sends at once", { type: "data", bytes: 2 ** 40 }],
  ["an entry without a name", { ...ENTRY, name: undefined }],
  ["an unknown kind", { ...ENTRY, kind: "door" }],
  ["a time that is none", { ...ENTRY, modifiedMs: 1e300 }],
  ["a mode that is none", { ...ENTRY, mode: 0o10000 }],
  ["half a rename", { type: "change", change: "renamed", path: "a" }],
  ["an unknown change", { type: "change", change: "moved", path: "a" }],
  ["an unknown reason", { type: "error", reason: "weather", why: "" }],
])("%s is no answer", (_, message) => {
  expect(parseJobAnswer(message)).toBeNull();
});
