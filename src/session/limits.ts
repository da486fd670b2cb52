// What a runtime may use, with the defaults, checked where it enters.

import { totalmem } from "node:os";
import type { SandboxLimits } from "../environments/environment.ts";
import { checkCount } from "../util/check-number.ts";

export interface Limits extends SandboxLimits {
  /** Sessions alive at once. */
  readonly sessions: number;
  /** What all sessions together may take, their files included. */
  readonly totalMemoryBytes: number;
  /** Executions that may wait in one session. */
  readonly waiting: number;
  /** Shell commands and adopted executions that run at once. */
  readonly tasks: number;
  /** What a result keeps of each stream, beginning and end. */
  readonly keptOutputBytes: number;
  /** What stays readable by offset. */
  readonly readableOutputBytes: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  memoryBytes: 2048 * MIB,
  diskBytes: 1024 * MIB,
  processes: 128,
  openFiles: 512,
  branches: 50,
  sessions: 100,
  totalMemoryBytes: Math.floor(totalmem() * 0.8),
  waiting: 128,
  tasks: 100,
  keptOutputBytes: MIB,
  readableOutputBytes: 256 * MIB,
};

/** With less no worker starts. Its own descriptors are numbered from 64 on. */
const LEAST: Readonly<Record<string, number>> = { memoryBytes: 64 * MIB, processes: 3, openFiles: 96, branches: 0 };
export function withDefaults(defaults: Limits, given: Partial<Limits> = {}): Limits {
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(said) };
}

export function checkLimits(limits: Partial<Limits> = {}): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) throw new TypeError(`Cannot use limits.${name}: there is no such limit`);
    checkCount(`limits.${name}`, value, LEAST[name] ?? 1);
  }
}
