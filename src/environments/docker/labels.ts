// Labels of everything that we make in an engine, and whose it is.

import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { startOfProcess } from "../../util/start-of-process.ts";

export const KIND = "dev.rlm-runtime.kind";
const OWNER = "dev.rlm-runtime.owner";

/** The process that a container ends with. */
interface Owner {
  readonly machine: string;
  /** Differs after a restart of the machine. Empty where it is unknown. */
  readonly boot: string;
  /** Process ids count within it. */
  readonly pids: string;
  readonly pid: number;
  readonly start: string;
}

export function labels(kind: "session" | "build" | "trial" | "worker"): Record<string, string> {
  return { [KIND]: kind, [OWNER]: JSON.stringify(thisProcess()) };
}

/** Whether the process that made something is known to be gone. */
export function isOrphan(found: Readonly<Record<string, string>>): boolean {
  const owner = parseOwner(found[OWNER] ?? "");
  const own = thisProcess();
  if (owner === undefined || owner.machine !== own.machine) return false;
  if (owner.boot !== own.boot) return owner.boot !== "" && own.boot !== "";
  if (owner.pids !== own.pids) return false;
  return startOfProcess(owner.pid) !== owner.start;
}

function thisProcess(): Owner {
  const start = startOfProcess(process.pid) ?? "";
  return {
    machine: hostname(),
    boot: read("/proc/sys/kernel/random/boot_id"),
    pids: namespace(),
    pid: process.pid,
    start,
  };
}

function parseOwner(text: string): Owner | undefined {
  try {
    const value = JSON.parse(text) as Partial<Owner>;
    return typeof value.pid === "number" && typeof value.start === "string" ? (value as Owner) : undefined;
  } catch {
    return undefined;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

function namespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}
