// The profile with which macOS confines the processes of a session (sandbox-exec). Untested on macOS.
//
// Everything is denied that no rule allows, and the last rule that fits decides. So rules go from outer folders to inner ones, what is
// hidden comes after what shows it, and the session's own folder comes last. Paths are real paths: links are followed before rules are looked at.

import { dirname } from "node:path";
import type { PreparedMount } from "../mounts.ts";

export const SANDBOX_EXEC: readonly string[] = ["/usr/bin/sandbox-exec"];

export interface ProfileOptions {
  /** The session's own folder. Those of other sessions are beside it. */
  readonly folder: string;
  /** Folders that every session reads: the interpreter and our own code. */
  readonly readable: readonly string[];
  readonly mounts: readonly PreparedMount[];
}

/** Of the system: programs, libraries, the loader's caches, time zones, certificates. Homes, /Library/Keychains and /private/var are not among them. */
const SYSTEM = [
  "/bin",
  "/sbin",
  "/usr/bin",
  "/usr/lib",
  "/usr/libexec",
  "/usr/sbin",
  "/usr/share",
  "/System/Library",
  "/System/Cryptexes",
  "/System/Volumes/Preboot/Cryptexes",
  "/Library/Apple",
  "/Library/Developer/CommandLineTools",
  "/private/etc/ssl",
  "/private/var/db/dyld",
  "/private/var/db/timezone",
];
const SYSTEM_FILES = ["/", "/private/etc/localtime", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
const WRITABLE_FILES = ["/dev/null", "/dev/random", "/dev/urandom"];
/** Where a package manager keeps libraries that its interpreters link to, outside of the interpreter's own folder. */
const PACKAGE_MANAGERS = ["/opt/homebrew", "/opt/local", "/usr/local", "/nix/store"];
/** Of the kernel. `kern.proc` and `kern.procargs2` are not among them: they show other processes. */
const SETTINGS = [
  "kern.argmax",
  "kern.bootargs",
  "kern.hostname",
  "kern.maxfilesperproc",
  "kern.maxproc",
  "kern.ngroups",
  "kern.osproductversion",
  "kern.osrelease",
  "kern.ostype",
  "kern.osvariant_status",
  "kern.osversion",
  "kern.secure_kernel",
  "kern.usrstack64",
  "kern.version",
  "sysctl.proc_cputype",
  "vm.loadavg",
];
const SETTINGS_BELOW = ["hw.", "machdep.cpu."];
/** A session may do this to itself, and nothing to others: no `appleevent-send`, no `lsopen`, no `mach-lookup`, no network. */
const PROCESSES = [
  "(allow process-exec)",
  "(allow process-fork)",
  "(allow signal (target same-sandbox))",
  "(allow process-info* (target same-sandbox))",
  "(allow ipc-posix-sem)",
];

export function seatbeltProfile({ folder, readable, mounts }: ProfileOptions): string {
  const managers = PACKAGE_MANAGERS.filter((manager) => readable.some((path) => isIn(path, manager)));
  const shown = [...SYSTEM, ...managers, ...readable];
  const outerFirst = mounts.toSorted((one, other) => one.path.length - other.path.length);
  const hidden = outerFirst.flatMap(({ path, hidden: names = [] }) =>
    names.map((name) => `${path}/${decodeName(name)}`),
  );
  const above = new Set([folder, ...readable, ...managers, ...mounts.map(({ path }) => path)].flatMap(ancestors));
  return [
    "(version 1)",
    "(deny default)",
    ...PROCESSES,
    rule("allow", "sysctl-read", [
      ...SETTINGS.map(named("sysctl-name")),
      ...SETTINGS_BELOW.map(named("sysctl-name-prefix")),
    ]),
    rule("allow", "file-read*", [...shown.map(subpath), ...SYSTEM_FILES.map(literal)]),
    rule("allow", "file-write-data", WRITABLE_FILES.map(literal)),
    rule("allow", "file-read-metadata", [...above].map(literal)),
    ...outerFirst.flatMap(({ path, mode }) => [
      rule("allow", "file-read*", [subpath(path)]),
      rule(mode === "rw" ? "allow" : "deny", "file-write*", [subpath(path)]),
    ]),
    ...hidden.map((path) => rule("deny", "file-read* file-write*", [subpath(path)])),
    rule("deny", "file-read* file-write*", [subpath(dirname(folder))]), // those of other sessions, should they be in a mount
    rule("allow", "file-read-metadata", [literal(dirname(folder))]),
    rule("allow", "file-read* file-write*", [subpath(folder)]),
    "",
  ].join("\n");
}

/** A string of the profile's language, a dialect of Scheme. Throws RangeError for what a path cannot contain. */
export function quotePath(path: string): string {
  if (path.includes("\0")) throw new RangeError("Cannot write a rule for a path: it holds a NUL byte");
  return `"${path.replace(/["\\]/g, String.raw`\$&`)}"`;
}

function rule(decision: "allow" | "deny", operations: string, filters: readonly string[]): string {
  return `(${decision} ${operations} ${filters.join(" ")})`;
}

function named(kind: string): (name: string) => string {
  return (name) => `(${kind} "${name}")`;
}

/** The path, and what is below it. */
function subpath(path: string): string {
  return `(subpath ${quotePath(path)})`;
}

function literal(path: string): string {
  return `(literal ${quotePath(path)})`;
}

function ancestors(path: string): string[] {
  const parts = path.split("/").slice(1, -1);
  return ["/", ...parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`)];
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Names of secrets are the bytes of the name, one character each. */
function decodeName(name: string): string {
  return Buffer.from(name, "latin1").toString("utf8");
}
