// The tiers of the sandbox, and why one could not be built on this machine, with a fix.
//
// A tier is tested by using it: a first sandbox builds all of its isolation, and the step that fails names the reason.

import { EnvironmentUnavailableError } from "../../errors.ts";
import type { UserRange } from "../../util/user-range.ts";

/** From the strongest to the weakest. The first that holds is used. */
export const TIERS = ["A", "C"] as const;

export type Tier = (typeof TIERS)[number];

/** What code in a session can do that tier A stops: whole sentences for people. */
export const NOT_STOPPED: Readonly<Record<Tier, readonly string[]>> = {
  A: [],
  C: [
    "Code sees the names, command lines and network connections of other processes of this machine or container in /proc.",
    "Code can tell whether a file exists, its size and its owner, if it knows the path.",
    "Nothing limits how much disk space and how many files a session uses together; one file is limited.",
  ],
};

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
  if (message.includes("reach the folder of the interpreter")) {
    return "Set RLM_PYTHON to an interpreter that every user can reach, such as /usr/bin/python3, or start as an ordinary user";
  }
  if (message.includes("no session runs as root")) {
    return "Give the folder to another user (chown -R 1000:1000 FOLDER), or start as an ordinary user who owns it";
  }
  if (stage === "contain its signals") {
    return "Use Linux 6.12 or newer; or, in a container, start as root, so that each session gets a user of its own";
  }
  if (stage === "build the root" && message.includes("'")) return "Check that the mounted path exists and may be read";
  if (message.endsWith("users for sandboxes are taken")) {
    return "Close sessions of this or another runtime, or set RLM_SANDBOX_USERS to a larger range of ids";
  }
  if (stage === "fork" || stage === "map the user") {
    return (
      "Allow unprivileged user namespaces: sysctl user.max_user_namespaces=15000; on Ubuntu 23.10 or newer also " +
      "sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a container run it with --security-opt seccomp=unconfined"
    );
  }
  if (stage === "mount") return "Check that the path exists and that its file system can be mounted elsewhere";
  if (stage === "restrict with Landlock")
    return "Use Linux 5.13 or newer with Landlock enabled (boot with lsm=landlock,...)";
  if (stage === "make pipes" || stage === "open the pipes of a worker") {
    return "Raise the limit of open files (ulimit -n); as root in a container also give it the capability SYS_PTRACE";
  }
  return "Run 'rlm doctor' to see what this machine offers";
}
