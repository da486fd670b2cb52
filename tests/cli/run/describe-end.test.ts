import { expect, test } from "vitest";
import { describeEnd } from "../../../src/cli/run/describe-end.ts";

test("the end of a run says what stopped it, and at a limit which option allows more", () => {
  const why = "Cannot go on: this needs 1 step, 0 of 3 are left";
  expect(describeEnd({ status: "partial", stopReason: "iterations", why })).toBe(
    `the answer is not complete: ${why}. Raise the limit with --max-iterations`,
  );
  expect(describeEnd({ status: "failed", stopReason: "costUsd", why: "no" })).toMatch(
    /^the run failed: no\. Raise the limit with --cost-/,
  );
  expect(describeEnd({ status: "failed", stopReason: "error", why: null })).toBe("the run failed: it has no answer");
  expect(describeEnd({ status: "partial", stopReason: "error", why: "it repeats itself" })).toMatch(/itself$/);
  expect(describeEnd({ status: "final", stopReason: "answered", why: null })).toBeUndefined();
  expect(describeEnd({ status: "cancelled", stopReason: "cancelled", why: "it was cancelled" })).toBeUndefined();
});
