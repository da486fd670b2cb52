// The process that made something in an engine or in a folder, and whether it is known to be gone. Where that cannot be known, it is not:
// what is left costs less than what is taken from a live process.

import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { startOfProcess } from "../../util/start-of-process.ts";

/** All but the last two are digests. Empty: unknown. */
export interface Owner {
  readonly machine: string;
  /** One start of the machine. */
  readonly boot: string;
  /** Process ids count within it. */
  readonly pidNamespace: string;
  readonly pid: number;
  readonly start: string;
}

export function thisProcess(): Owner {
  return {
    machine: digest(readMachine()),
    boot: digest(read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"))),
    pidNamespace: digest(read(() => readlinkSync("/proc/self/ns/pid"))),
    pid: process.pid,
    start: startOfProcess(process.pid) ?? "",
  };
}

export function isGone(owner: Owner, own: Owner = thisProcess()): boolean {
  if (owner.boot !== own.boot)
    return isKnown(owner.boot, own.boot) && isKnown(own.machine) && isSameMachine(owner, own);
  // Two machines never have the same boot. Without one, the machine must be known.
  if (!isKnown(own.boot) && !(isKnown(own.machine) && isSameMachine(owner, own))) return false;
  if (owner.pidNamespace !== own.pidNamespace || (process.platform === "linux" && !isKnown(own.pidNamespace)))
    return false;
  return isEnded(owner.pid, owner.start);
}

function isEnded(pid: number, start: string): boolean {
  const found = startOfProcess(pid);
  if (found !== null && start !== "") return found !== start;
  // It is gone, or /proc hides it.
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function isKnown(...facts: readonly string[]): boolean {
  return facts.every((fact) => fact !== "");
}

function isSameMachine(one: Owner, other: Owner): boolean {
  return one.machine === other.machine;
}

/** Names of machines are not unique. */
function readMachine(): string {
  const id = read(() => readFileSync("/etc/machine-id", "utf8")) || addresses();
  return id && `${hostname()} ${id}`;
}

/** Addresses of the network cards, where the system has no id. */
function addresses(): string {
  const cards = Object.values(networkInterfaces()).flatMap((found = []) => found);
  const known = cards.filter(({ internal, mac }) => !internal && !/^(?:00:?)+$/.test(mac)).map(({ mac }) => mac);
  return [...new Set(known)].toSorted().join(" ");
}

function digest(text: string): string {
  return text && createHash("sha256").update(`rlm-runtime ${text}`).digest("hex").slice(0, 8);
}

function read(from: () => string): string {
  try {
    return from().trim();
  } catch {
    return "";
  }
}
