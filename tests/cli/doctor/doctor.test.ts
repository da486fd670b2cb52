import { expect, test } from "vitest";
import { toLines } from "../../../src/cli/doctor/doctor.ts";
import { ok, warn } from "../../../src/cli/doctor/finding.ts";

test("on a terminal, a long finding continues below its beginning, and a path stays whole", () => {
  const path = `/home/someone/${"long/".repeat(12)}python3`;
  const finding = warn(
    "python",
    `3.11.7 at ${path}, by way of a script`,
    "RLM_PYTHON=python3 saves the detour at every start",
  );
  expect(toLines(finding, 60)).toBe(
    [
      "warn  python       3.11.7 at",
      `                   ${path},`,
      "                   by way of a script",
      "                   fix: RLM_PYTHON=python3 saves the detour",
      "                   at every start",
      "",
    ].join("\n"),
  );
});

test("elsewhere a finding is one line", () => {
  const found = "many words ".repeat(30).trimEnd();
  expect(toLines(ok("limits", found), Infinity)).toBe(`ok    limits       ${found}\n`);
});
