import { expect, test } from "vitest";
import { lookOf } from "../../../../web/src/state/tasks/task-look.ts";

test("a command that ended with an exit code other than 0 is marked by that code, as an error", () => {
  expect(lookOf({ status: "completed", exitCode: 2 })).toEqual({ state: "failed", word: "exit 2" });
});

test("every other task is marked by its state", () => {
  expect(lookOf({ status: "completed", exitCode: 0 })).toEqual({ state: "completed", word: undefined });
  expect(lookOf({ status: "running", exitCode: null })).toEqual({ state: "running", word: undefined });
  expect(lookOf({ status: "cancelled", exitCode: 137 })).toEqual({ state: "cancelled", word: undefined });
});
