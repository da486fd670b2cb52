// The tiers of the sandbox, and why one could not be built on this machine, with a fix.
//
// A tier is tested by using it: a first sandbox builds all of its isolation, and the step that fails names the reason.

import { EnvironmentUnavailableError } from "../../errors.ts";
import type { StrongerTier } from "../environment.ts";
import { adviseOn } from "../linux-advice.ts";
import type { UserRange } from "../../util/user-range.ts";

/** From the strongest to the weakest. The first that holds is used. */
export const TIERS = ["A", "A-no-landlock", "B", "C"] as const;

/** Of macOS. */
const DARWIN_TIERS = ["seatbelt"] as const;

export type Tier = (typeof TIERS | typeof DARWIN_TIERS)[number];

const LANDLOCK = "restrict with Landlock";

/** What code in a session can do that tier A stops: whole sentences for people. */
const NOT_STOPPED: Readonly<Record<Tier, readonly string[]>> = {
  A: [],
  "A-no-landlock": [
    "Code can write to named pipes of the host in folders that are mounted read-only.",
    "If a bug of the kernel shows a session more files than its own, no second layer keeps it from them.",
    "Before Linux 5.6, open files that the processes of a session send each other and never receive are not counted.",
    "Before Linux 5.14, sessions that share a user share its processes: one that starts many keeps the others from it.",
  ],
  B: [
    "A session that has too many files, or too much in all its folders together, is ended a moment later; tier A never lets it get there.",
    "What the host mounts below a mounted folder while a session is open appears in the session.",
    "Reading /proc/locks again and again delays other processes of the machine that lock files.",
    "Without Landlock, code can write to named pipes of the host in folders that are mounted read-only.",
    "Where bubblewrap is set-user-ID root, no folder has a quota; without user namespaces, sessions share the number of processes of their user.",
  ],
  C: [
    "Code sees the names, command lines and network connections of other processes of this machine or container in /proc.",
    "Code can tell whether a file exists, its size and its owner, if it knows the path.",
    "Nothing limits how much disk space and how many files a session uses together; one file is limited.",
  ],
  seatbelt: [
    "This tier was never tried on macOS: its rules are written from documents, and its supervisor was tried on Linux without them.",
    "A process that leaves its process group and loses its parent outlives its session, behind the same rules.",
    "Memory is watched twice a second and not limited by the kernel; processes are not limited.",
    "Nothing limits how much disk space and how many files a session uses together; one file is limited.",
    "Sessions have the user of the host.",
  ],
};

/** In tier C, where each session has a user of its own, and where sessions share the user of the host. */
const OWN_USERS_IN_C =
  "A session with a folder that only root can use has the user of root, without its privileges: it can read what /proc shows to root.";
const SHARED_USER_IN_C =
  "Sessions have the user of the host: together with others of this user they may use up its processes, though each has a limit.";

/** `sharesUser`: sessions have the user of the host. */
export function notStoppedBy(tier: Tier, sharesUser: boolean): readonly string[] {
  if (tier !== "C") return NOT_STOPPED[tier];
  return [...NOT_STOPPED.C, sharesUser ? SHARED_USER_IN_C : OWN_USERS_IN_C];
}

/** Whether a tier can hold after stronger ones failed. Without Landlock it differs from tier A in one step, so any other would fail again. */
export function isWorthTrying(tier: Tier, failures: readonly EnvironmentUnavailableError[]): boolean {
  return tier !== "A-no-landlock" || failures.length === 0 || failures.some(({ why }) => why.includes(LANDLOCK));
}

export function explainFailure(tier: Tier, stage: string, message: string): EnvironmentUnavailableError {
  const why = `sandbox tier ${tier} failed to ${stage}: ${message}`;
  return (isPassing(stage, message) ? unavailable : noTier)(why, fixFor(stage, message));
}

/** No tier holds. The fix for the strongest comes first. */
export function explainAll(failures: readonly EnvironmentUnavailableError[]): EnvironmentUnavailableError {
  const fixes = new Set(failures.map(({ fix }) => fix));
  if (fixes.size > 1) fixes.delete(NO_FIX);
  const explain = failures.every((failure) => failure instanceof NoTierError) ? noTier : unavailable;
  return explain(failures.map(({ why }) => why).join("; "), [...fixes].join("; or: "));
}

/** Why the strongest tier does not hold, where a weaker one does. */
export function toStronger([strongest]: readonly EnvironmentUnavailableError[]): StrongerTier | null {
  return strongest === undefined ? null : { why: strongest.why, fix: strongest.fix };
}

/** A program that was bundled has our code, and not the Python that it starts. */
export const NO_PYTHON_FOLDER = "the folder `python` of rlm-runtime is not beside its code, as after bundling";
export const KEEP_PYTHON_FOLDER =
  "Mark rlm-runtime as external in the bundler, or copy node_modules/rlm-runtime/dist/python next to the bundle as `python`";

export function unavailable(why: string, fix: string): EnvironmentUnavailableError {
  return new EnvironmentUnavailableError({ environment: "local", why, fix });
}

/**
 * This machine has no usable Python, or no tier: no mistake in a setting and no passing state is the reason. Callers see it as the error
 * that it extends.
 */
export class NoTierError extends EnvironmentUnavailableError {
  override get name(): string {
    return EnvironmentUnavailableError.name;
  }
}

export function noTier(why: string, fix: string): NoTierError {
  return new NoTierError({ environment: "local", why, fix });
}

const NOT_STARTED = "did not start the fork server";

/** The interpreter ended before it said anything. */
export function notStarted(executable: string, why: string): EnvironmentUnavailableError {
  const fix = "Install Python 3.9 or newer, or name another interpreter with RLM_PYTHON";
  return (why.includes(SHOWS_TOO_MUCH) ? noTier : unavailable)(`Python at '${executable}' ${NOT_STARTED}: ${why}`, fix);
}

/** Whether the interpreter itself may be the reason. */
export function isStartFailure(error: unknown): boolean {
  return error instanceof EnvironmentUnavailableError && error.why.includes(NOT_STARTED);
}

/** Whether another interpreter would be a way out. */
export function isAboutFolder(error: unknown): boolean {
  return (
    error instanceof EnvironmentUnavailableError &&
    [UNREACHABLE, SHOWS_TOO_MUCH].some((part) => error.why.includes(part))
  );
}

export function refusedRange(range: UserRange | undefined, why: string): EnvironmentUnavailableError {
  const text = range === undefined ? "" : ` ${range.first}-${range.last}`;
  const fix = "Set RLM_SANDBOX_USERS, or sessions.users in rlm.toml, to ids that no account has, or unset it";
  return unavailable(`the range of users${text} cannot be used: ${why}`, fix);
}

/** The tiers to try, in order. Throws if one is asked for that does not exist. */
export function requestedTiers(requested: string | undefined, platform: string): readonly Tier[] {
  const known: readonly Tier[] = platform === "darwin" ? DARWIN_TIERS : TIERS;
  if (requested === undefined || requested === "") return known;
  const tier = known.find((name) => name === requested);
  if (tier !== undefined) return [tier];
  const why = `RLM_SANDBOX_TIER asks for tier '${requested}', and the known tiers are: ${known.join(", ")}`;
  throw unavailable(why, "Unset RLM_SANDBOX_TIER");
}

/** As the fork server says it. */
export const UNREACHABLE = "other users than root cannot reach the folder of the interpreter";
const SHOWS_TOO_MUCH = "showing that to a sandbox would show too much";
export const USE_REACHABLE =
  "Use a Python (RLM_PYTHON) and a Node that every user can reach, or run as an ordinary user";
const NO_FIX = "Run 'rlm doctor' to see what this machine offers";

/** Steps that fail because others use what they need. */
const SHARED_STEPS = ["take a user", "make pipes", "make its folder", "reach the init"];
/** EAGAIN, ENOMEM, ENFILE and EMFILE. */
const TOO_MANY = /\[Errno (?:11|12|23|24)\]/;

/** Whether the step may well succeed later, or with other limits. */
function isPassing(stage: string, message: string): boolean {
  if (message.includes(UNREACHABLE)) return false;
  return SHARED_STEPS.includes(stage) || TOO_MANY.test(message);
}

/** As the broker says it. */
const OWNER_NOT_MAPPED = "the owner of the mounted folder cannot be mapped";

const GONE = "The path was removed or renamed while the session was opened: open it again with a path that exists";
const NOT_ALLOWED =
  "Allow the user of the host to read the path; a FUSE file system of another user needs the option allow_other";

/** By the number of the error. */
const MOUNT_FIXES: Readonly<Record<string, string>> = {
  1: NOT_ALLOWED,
  2: GONE,
  13: NOT_ALLOWED,
  20: GONE,
  22: "Its file system cannot be mounted elsewhere (it may be unbindable): copy the folder and mount the copy",
  40: "The path was replaced by a symbolic link while the session was opened: mount the folder that the link leads to",
};

/** What to do about a mount that was refused after its path had been checked. */
function fixForMount(message: string): string {
  if (message.includes("cannot show another owner")) {
    return "Open a session for each owner, make one of them the owner of both (chown), or copy one to a disk or volume that is not overlayfs";
  }
  return (
    MOUNT_FIXES[/^\[Errno (\d+)\]/.exec(message)?.[1] ?? ""] ??
    "Check that the path can be read, or mount a copy of the folder"
  );
}

function fixFor(stage: string, message: string): string {
  if (message.includes("before Linux 5.12")) {
    return "Use Linux 5.12 or newer, or start it as the user who owns the folder, not as root";
  }
  if (message.includes(UNREACHABLE)) return USE_REACHABLE;
  const advice = adviseOn(stage, message);
  if (advice !== undefined) return advice;
  if (stage === "mount" || (stage === "build the root" && message.includes("'"))) return fixForMount(message);
  if (message.startsWith(OWNER_NOT_MAPPED)) {
    return "Mount a folder that does not belong to root, or give the container the capability SETFCAP";
  }
  if (stage === "find what only root may read") {
    return "Mount a folder that does not belong to root, for instance after chown -R 1000:1000 FOLDER";
  }
  if (message.endsWith("users for sandboxes are taken")) {
    return "Close sessions of this or another runtime, or set RLM_SANDBOX_USERS to a larger range of ids";
  }
  if (stage === LANDLOCK) return "Use Linux 5.13 or newer with Landlock enabled (boot with lsm=landlock,...)";
  if (stage === "make pipes" || stage === "open the pipes of a worker") {
    return "Raise the limit of open files (ulimit -n)";
  }
  return NO_FIX;
}
