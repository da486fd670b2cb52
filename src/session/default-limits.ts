// The limits of a runtime that sets none.

import { tmpdir, totalmem } from "node:os";
import type { Limits } from "../api/local.ts";
import { freeBytes } from "../util/bytes/free-bytes.ts";

const MIB = 1024 * 1024;

/** The limits of a runtime that sets none. Those of memory and of output depend on this machine. */
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
  totalOutputBytes: Math.min(4096 * MIB, Math.floor(freeBytes(tmpdir()) / 2)),
};
