import { expect, test } from "vitest";
import { parseDotEnv, readDotEnv } from "../../src/config/dot-env.ts";

test.each([
  ["A=1", { A: "1" }],
  ["A = spaced out \n", { A: "spaced out" }],
  ["export A=1\r\nB=2\r\n", { A: "1", B: "2" }],
  ["\uFEFFA=1", { A: "1" }],
  ["# A=1\n\n  # B\nC=3", { C: "3" }],
  ["A=1 # why\nB=a#b\nC= # none", { A: "1", B: "a#b", C: "" }],
  ["A=\nB=''\nC=\"\"", { A: "", B: "", C: "" }],
  ["A='x # y' # z", { A: "x # y" }],
  [String.raw`A="a\nb\t\"c\" \\ \$d"`, { A: 'a\nb\t"c" \\ $d' }],
  [String.raw`A='a\nb'`, { A: String.raw`a\nb` }],
  ['A="one\ntwo"\nB=3', { A: "one\ntwo", B: "3" }],
  ["A='one\n\ntwo'", { A: "one\n\ntwo" }],
  ["A=1\nA=2", { A: "2" }],
  ["URL=http://x/?a=b&c=d", { URL: "http://x/?a=b&c=d" }],
  ["A=$B", { A: "$B" }],
])("%j", (text, expected) => {
  expect(parseDotEnv(text, ".env")).toEqual(expected);
});

test.each([
  ["A=1\nnonsense secret", 2],
  ["=secret", 1],
  ["A=1\nB='secret\n", 2],
  ['A="secret" secret', 1],
  ["1A=secret", 1],
])("%j is refused with its line and without its text", (text, line) => {
  const read = (): unknown => parseDotEnv(text, ".env");
  expect(read).toThrow(`Cannot use .env:${line}: it is not KEY=VALUE`);
  expect(read).not.toThrow(/secret/);
});

test("a missing file is empty", () => {
  expect(readDotEnv("/nowhere/.env")).toEqual({});
});

test("where wrong lines are left out, the others count, also after a quote that is not closed", () => {
  const text = "what is this\nA=1\nB='open\nC=3\n";
  const problems: string[] = [];
  expect(parseDotEnv(text, ".env", ({ message }) => void problems.push(message))).toEqual({ A: "1", C: "3" });
  expect(problems).toEqual([expect.stringContaining(".env:1"), expect.stringContaining(".env:3")]);
});
