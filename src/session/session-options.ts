// What may be said about one session.

import type { Mount, SandboxLimits } from "../environments/environment.ts";
import type { EnvironmentName } from "../environments/registry.ts";
import type { CallHandler } from "../kernel/calls.ts";

export type { CallHandler, HostCall } from "../kernel/calls.ts";

export interface SessionOptions {
  /** Default: `s1`, `s2`, ..., or as the runtime's `ids` says. An id that is taken is an error. */
  readonly id?: string;
  /** Default: the runtime's. */
  readonly environment?: EnvironmentName;
  /** Default: the runtime's. */
  readonly python?: string;
  /** Environment variables; nothing of the host's environment is ever passed. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the session's working directory. */
  readonly cwd?: string;
  /** `sys.argv`. Default: `[""]`, as at a prompt. */
  readonly argv?: readonly string[];
  /** In addition to the runtime's. */
  readonly mounts?: readonly Mount[];
  readonly limits?: Partial<SandboxLimits>;
  readonly idleTimeoutMs?: number | null;
  /** Keep a checkpoint from before each of the last executions (true: 10), so that `undo()` works. Default: false. */
  readonly autoCheckpoint?: boolean | number;
  /** Whether the standard library is there. Default: true. */
  readonly includeStdlib?: boolean;
  /** Answers `rlm_host.call(name, ...)` in the session. Default: every call is refused. */
  readonly onCall?: CallHandler;
}
