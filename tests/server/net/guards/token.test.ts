import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openToken } from "../../../../src/server/net/guards/token.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rlm-token-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("creates a token that only the user can read, and finds it again", () => {
  const made = openToken(folder, undefined);
  const path = join(folder, "token");
  expect(made).toEqual({ value: expect.stringMatching(/^[\w-]{43}$/), path });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, "utf8")).toBe(`${made.value}\n`);
  expect(openToken(folder, "")).toEqual(made);
});

test("restricts a file that others could read", () => {
  const { value, path } = openToken(folder, undefined);
  chmodSync(path ?? "", 0o644);
  expect(openToken(folder, undefined).value).toBe(value);
  expect(statSync(path ?? "").mode & 0o777).toBe(0o600);
});

test("replaces a file without a token", () => {
  writeFileSync(join(folder, "token"), "\n");
  const { value } = openToken(folder, undefined);
  expect(value).toMatch(/^[\w-]{43}$/);
  expect(openToken(folder, undefined).value).toBe(value);
});

test("does not follow a link, nor change what it leads to", () => {
  const other = join(folder, "other");
  writeFileSync(other, "planted");
  chmodSync(other, 0o644);
  symlinkSync(other, join(folder, "token"));
  expect(() => openToken(folder, undefined)).toThrow("ELOOP");
  expect(statSync(other).mode & 0o777).toBe(0o644);
});

test.skipIf(process.getuid?.() !== 0)("does not take a token that another user put there (skipped unless root)", () => {
  writeFileSync(join(folder, "token"), "planted");
  chownSync(join(folder, "token"), 64_125, 64_125);
  expect(() => openToken(folder, undefined)).toThrow("is not a file of this user");
});

test("uses the configured token, and writes nothing", () => {
  expect(openToken(undefined, "given")).toEqual({ value: "given", path: null });
});

test.each(["two words", "line\n", "é"])("refuses %j, which no header can carry", (given) => {
  expect(() => openToken(folder, given)).toThrow(RangeError);
});

test("says what to do when there is no data folder", () => {
  expect(() => openToken(undefined, undefined)).toThrow(/RLM_DATA/);
});
