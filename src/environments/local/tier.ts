// The tiers of the sandbox, and why one could not be built on this machine, with a fix.
//
// A tier is tested by using it: a first sandbox builds all of its isolation, and the step that fails names the reason.

import { EnvironmentUnavailableError } from "../../errors.ts";
import { adviseOn } from "../linux-advice.ts";
import type { UserRange } from "../../util/user-range.ts";

/** From the strongest to the weakest. The first that holds is used. */
export const TIERS = ["A", "A-no-landlock"] as const;

export type Tier = (typeof TIERS)[number];

const LANDLOCK = "restrict with Landlock";

/** What code in a session can do that tier A stops: whole sentences for people. */
export const NOT_STOPPED: Readonly<Record<Tier, readonly string[]>> = {
  A: [],
  "A-no-landlock": [
    "Code can write to named pipes of the host in folders that are mounted read-only.",
    "If a bug of the kernel shows a session more files than its own, no second layer keeps it from them.",
    "Before Linux 5.6, open files that the processes of a session send each other and never receive are not counted.",
    "Before Linux 5.14, sessions that share a user share its processes: one that starts many keeps the others from it.",
  ],
};

/** Whether a tier can hold after stronger ones failed. It differs from tier A in one step, so any other would fail again. */
export function isWorthTrying(tier: Tier, failures: readonly EnvironmentUnavailableError[]): boolean {
  return tier !== "A-no-landlock" || failures.length === 0 || failures.some(({ why }) => why.includes(LANDLOCK));
}

export function explainFailure(tier: Tier, stage: string, message: string): EnvironmentUnavailableError {
  return unavailable(`sandbox tier ${tier} failed to ${stage}: ${message}`, fixFor(stage, message));
}

/** No tier holds. The fix is that of the strongest. */
export function explainAll(failures: readonly EnvironmentUnavailableError[]): EnvironmentUnavailableError {
  return unavailable(failures.map(({ why }) => why).join("; "), failures[0]?.fix ?? "");
}

export function unavailable(why: string, fix: string): EnvironmentUnavailableError {
  return new EnvironmentUnavailableError({ environment: "local", why, fix });
}

export function refusedRange(range: UserRange | undefined, why: string): EnvironmentUnavailableError {
  const text = range === undefined ? "" : ` ${range.first}-${range.last}`;
  const fix = "Set RLM_SANDBOX_USERS, or sessions.users in rlm.toml, to ids that no account has, or unset it";
  return unavailable(`the range of users${text} cannot be used: ${why}`, fix);
}

/** The tiers to try, in order. Throws if one is asked for that does not exist. */
export function requestedTiers(requested: string | undefined): readonly Tier[] {
  if (requested === undefined || requested === "") return TIERS;
  const tier = TIERS.find((name) => name === requested);
  if (tier !== undefined) return [tier];
  const why = `RLM_SANDBOX_TIER asks for tier '${requested}', and there are only ${TIERS.join(", ")}`;
  throw unavailable(why, "Unset RLM_SANDBOX_TIER");
}

function fixFor(stage: string, message: string): string {
  if (message.includes("before Linux 5.12"))
    return "Use Linux 5.12 or newer, or start it as the user who owns the folder, not as root";
  const advice = adviseOn(stage, message);
  if (advice !== undefined) return advice;
  if (stage === "build the root" && message.includes("'")) return "Check that the mounted path exists and may be read";
  if (message.endsWith("users for sandboxes are taken")) {
    return "Close sessions of this or another runtime, or set RLM_SANDBOX_USERS to a larger range of ids";
  }
  if (stage === "mount") return "Check that the path exists and that its file system can be mounted elsewhere";
  if (stage === LANDLOCK) return "Use Linux 5.13 or newer with Landlock enabled (boot with lsm=landlock,...)";
  if (stage === "make pipes" || stage === "open the pipes of a worker") {
    return "Raise the limit of open files (ulimit -n)";
  }
  return "Run 'rlm doctor' to see what this machine offers";
}
