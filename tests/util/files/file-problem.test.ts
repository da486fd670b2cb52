import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeReadProblem, describeWriteProblem, nearestFolder } from "../../../src/util/files/file-problem.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rlm-problem-"));
  mkdirSync(join(folder, "inner"));
  writeFileSync(join(folder, "file"), "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

test.each([
  ["gone", "there is no such file"],
  ["file/below", "there is no such file"],
  ["inner", "it is a folder"],
])("reading %s: %s", (name, expected) => {
  expect(describeReadProblem(failureOf(() => readFileSync(join(folder, name))))).toBe(expected);
});

test("writing names the folder that is missing or is none", () => {
  const problemOf = (name: string): string => {
    const path = join(folder, name);
    return describeWriteProblem(
      path,
      failureOf(() => openSync(path, "w")),
    );
  };
  expect(problemOf("inner")).toBe("it is a folder. Name a file in it");
  expect(problemOf("gone/below/x")).toBe(`there is no folder '${join(folder, "gone", "below")}'`);
  expect(problemOf("file/x")).toBe(`'${join(folder, "file")}' is not a folder`);
  const denied = Object.assign(new Error(), { code: "EACCES" });
  expect(describeWriteProblem(join(folder, "x"), denied)).toBe(`this user may not write to '${folder}'`);
  const full = Object.assign(new Error(), { code: "ENOSPC" });
  expect(describeWriteProblem(join(folder, "x"), full)).toBe("there is no space left on the disk");
});

test("an error of another kind keeps its message", () => {
  expect(describeReadProblem(new Error("it is odd"))).toBe("it is odd");
  expect(describeWriteProblem(join(folder, "x"), new Error("it is odd"))).toBe("it is odd");
});

test("the nearest folder is the innermost that exists", () => {
  expect(nearestFolder(join(folder, "inner", "a", "b"))).toBe(join(folder, "inner"));
});
