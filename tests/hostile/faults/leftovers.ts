// What a sandbox takes on the machine, counted from outside, to see that nothing of it is left.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import type { UserRange } from "../../../src/util/user-range.ts";
import { childrenOf } from "../machine.ts";

export interface Holdings {
  readonly children: number;
  readonly descriptors: number;
  readonly brokerDescriptors: number;
  readonly hostDescriptors: number;
  readonly users: number;
  readonly cgroups: number;
}

const LOCK_FILES = [
  "/run/rlm-runtime/users.lock",
  "/dev/shm/rlm-runtime-0/users.lock",
  "/tmp/rlm-runtime-0/users.lock",
];

/** `range` has the users of this runtime alone. */
export function holdings(forkServer: number, broker: number | undefined, range: UserRange): Holdings {
  return {
    children: childrenOf(forkServer).length,
    descriptors: descriptorsOf(forkServer),
    brokerDescriptors: broker === undefined ? 0 : descriptorsOf(broker),
    hostDescriptors: descriptorsOf(process.pid),
    users: broker === undefined ? 0 : userLocks(range),
    cgroups: broker === undefined ? 0 : cgroupsOf(broker),
  };
}

function descriptorsOf(pid: number): number {
  return existsSync(`/proc/${pid}/fd`) ? readdirSync(`/proc/${pid}/fd`).length : 0;
}

/** Locks on users of this range: each is a lock on the byte of that number. */
function userLocks({ first, last }: UserRange): number {
  const file = LOCK_FILES.find((path) => existsSync(path));
  if (file === undefined) return 0;
  const inode = statSync(file).ino;
  const lines = readFileSync("/proc/locks", "utf8").split("\n");
  return lines.filter((line) => {
    const start = Number(line.split(/\s+/).at(-2));
    return line.includes("OFDLCK") && line.includes(`:${inode} `) && start >= first && start <= last;
  }).length;
}

function cgroupsOf(broker: number): number {
  const mount = /^(?:\S+ ){4}(?<folder>\S+) .* - cgroup \S+ \S*\bmemory\b/m;
  const folder = mount.exec(readFileSync("/proc/self/mountinfo", "utf8"))?.groups?.["folder"];
  if (!existsSync(`/proc/${broker}`)) return 0;
  const own = /^\d+:(?:\w+,)*memory(?:,\w+)*:(?<path>.*)$/m.exec(readFileSync(`/proc/${broker}/cgroup`, "utf8"));
  const path = own?.groups?.["path"];
  if (folder === undefined || path === undefined) return 0;
  return readdirSync(`${folder}${path}`).filter((name) => name.startsWith(`rlm-${broker}-`)).length;
}
