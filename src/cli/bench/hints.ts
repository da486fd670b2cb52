// What may make a machine slow, as far as it can be seen.

import { existsSync } from "node:fs";
import { availableParallelism, loadavg, release, version } from "node:os";
import type { EnvironmentReport } from "../../environments/environment.ts";
import { shimPath } from "../doctor/python-shim.ts";

export interface Seen {
  /** Processes that run or want to, on average over the last minute. */
  readonly load: number;
  readonly cores: number;
  readonly kernel: string;
  /** The kernel checks its own locks, which slows every system call. */
  readonly hasLockChecks: boolean;
  readonly tier: string | null;
  readonly isDebugPython: boolean;
  /** A script of a version manager that starts Python. */
  readonly pythonShim: string | undefined;
}

export function look({ tier }: EnvironmentReport, isDebugPython: boolean): Seen {
  return {
    load: loadavg()[0] ?? 0,
    cores: availableParallelism(),
    kernel: `${release()} ${version()}`,
    hasLockChecks: existsSync("/proc/lockdep_stats"),
    tier,
    isDebugPython,
    pythonShim: shimPath(),
  };
}

const SLOWER_TIERS: ReadonlySet<string | null> = new Set(["B", "C", "seatbelt"]);

/** Sentences, the likeliest reason first. */
export function hintsOf({ load, cores, kernel, hasLockChecks, tier, isDebugPython, pythonShim }: Seen): string[] {
  const hints = [
    load > cores && `The machine is busy: load ${load.toFixed(1)} on ${cores} cores. Try again when it is idle.`,
    SLOWER_TIERS.has(tier) && `The sandbox is tier ${tier}, which is slower than A. 'rlm doctor' says what A needs.`,
    isDebugPython && "Python is a debug build. Choose another with --python or RLM_PYTHON.",
    (hasLockChecks || /debug/i.test(kernel)) && "The kernel is a debug build, which slows every system call.",
    /microsoft/i.test(kernel) && "This is WSL, where starting processes is slow.",
    pythonShim !== undefined &&
      `Python starts by way of the script ${pythonShim}. RLM_PYTHON can name the interpreter.`,
  ].filter((hint) => hint !== false);
  return hints.length > 0 ? hints : ["No reason is visible from here. 'rlm doctor' checks the sandbox."];
}
