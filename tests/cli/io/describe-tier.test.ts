import { expect, test } from "vitest";
import { describeTier } from "../../../src/cli/io/describe-tier.ts";
import type { EnvironmentReport } from "../../../src/environments/environment.ts";

const report = { tier: "C", notStopped: ["Code sees this.", "And that."] } as unknown as EnvironmentReport;

test("nothing is said of a tier that stops everything", () => {
  expect(describeTier({ ...report, tier: "A", notStopped: [], strongerTier: null })).toEqual([]);
});

test("the gaps, why there is no stronger tier, and the fix", () => {
  const strongerTier = { why: "sandbox tier A failed to fork: no", fix: "Start it elsewhere" };
  expect(describeTier({ ...report, strongerTier })).toEqual([
    "tier C is weaker than A: Code sees this. And that. It is used because sandbox tier A failed to fork: no.",
    "for tier A: Start it elsewhere",
  ]);
});

test("where a tier was asked for, how to learn what others lack", () => {
  const [gaps, fix] = describeTier({ ...report, strongerTier: null });
  expect(gaps).toBe("tier C is weaker than A: Code sees this. And that.");
  expect(fix).toContain("unset RLM_SANDBOX_TIER");
});
