// What people are told of a sandbox that is weaker than it could be.

import type { EnvironmentReport } from "../../environments/environment.ts";

/** What the tier does not stop, and how to get a stronger one. Empty where it stops all that the strongest does. */
export function describeTier({ tier, notStopped, strongerTier }: EnvironmentReport): readonly string[] {
  if (notStopped.length === 0) return [];
  const reason = strongerTier === null ? "" : ` It is used because ${strongerTier.why}.`;
  const fix =
    strongerTier === null
      ? "unset RLM_SANDBOX_TIER, or RLM_SANDBOX_TIER=A rlm doctor tells what it lacks here"
      : strongerTier.fix;
  return [`tier ${tier} is weaker than A: ${notStopped.join(" ")}${reason}`, `for tier A: ${fix}`];
}
