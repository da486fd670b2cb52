// Merges flags and the configuration into the settings of sessions that a command opens in its own process. Flags win.

import { checkRuntimePython } from "../../api/checks/check-local.ts";
import type { Config } from "../../config/config.ts";
import { parseMount } from "../../environments/mounts.ts";
import type { EnvironmentName } from "../../environments/registry.ts";
import { EnvironmentUnavailableError } from "../../errors.ts";
import type { RuntimeOptions } from "../../runtime-options.ts";
import { checkMemoryIn, type SessionOptions } from "../../session/options.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import type { LoggedArguments } from "../log/command-log.ts";
import { progressPrinter } from "../io/progress-printer.ts";
import { asUsageError } from "../options/usage-error.ts";
import { describeOrigin } from "../config/describe-origin.ts";

/** Options of commands that open a runtime in this process. */
export interface RuntimeArguments {
  readonly env?: EnvironmentName;
  /** `PATH[:ro|rw]`. They replace those of the configuration. */
  readonly mount?: readonly string[];
  readonly python?: string;
  /** In bytes. */
  readonly memory?: number;
}

/** Options of every command that opens a session in this process. */
export interface SessionArguments extends RuntimeArguments, LoggedArguments {
  /** In seconds. 0: no limit. */
  readonly timeout?: number;
  readonly e?: readonly (readonly [string, string])[];
  /** Where code starts. */
  readonly cwd?: string;
  readonly sessionFile?: string;
  readonly config?: string;
}

type ConfiguredOptions = Pick<
  RuntimeOptions,
  "environment" | "python" | "preload" | "users" | "mounts" | "limits" | "docker" | "wasm" | "onProgress"
>;

/** Without a configuration, the flags alone count. */
export function toRuntimeOptions(flags: RuntimeArguments, config?: Config): ConfiguredOptions {
  const { mounts, python: configured, preload, users } = config?.sessions ?? {};
  const { env: environment = config?.rlm.environment, mount = mounts, python = configured } = flags;
  // That of the configuration is for sessions in `local`, which clients of a server may ask for.
  asUsageError(() => checkRuntimePython(environment, flags.python));
  const limits = { ...config?.limits, ...omitUndefined({ memoryBytes: flags.memory }) };
  const { memoryBytes } = limits;
  if (environment !== undefined && memoryBytes !== undefined)
    asUsageError(() => checkMemoryIn(environment, { memoryBytes }));
  return {
    limits,
    ...omitUndefined({
      environment,
      python,
      preload: environment === "wasm" ? undefined : preload, // the file is for all environments
      users,
      docker: config?.docker,
      wasm: config?.wasm,
      onProgress: progressPrinter(),
      mounts: mount && asUsageError(() => mount.map(parseMount)),
    }),
  };
}

/** The variables of the command line are added to those of the configuration. */
export function toSessionOptions(
  { e = [], cwd }: Pick<SessionArguments, "e" | "cwd">,
  { sessions }: Config,
): Pick<SessionOptions, "env" | "includeStdlib" | "cwd"> {
  const env = { ...sessions.env, ...Object.fromEntries(e) };
  return { env, ...omitUndefined({ includeStdlib: sessions.include_stdlib, cwd }) };
}

/** Of one piece of code. Null: no limit, the default. */
export function toTimeoutMs({ timeout: flag }: Pick<SessionArguments, "timeout">, { sessions }: Config): number | null {
  const seconds = flag ?? sessions.timeout ?? 0;
  return seconds === 0 ? null : seconds * 1000;
}

const FLAG = { kind: "flag", flag: "--python", isApproved: true } as const;

/** Does the work. If the interpreter cannot be used, the error also says who chose it. */
export async function namingPython<Value>(
  { python: flag }: RuntimeArguments,
  { origins }: Config,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const origin = flag === undefined ? origins.get("sessions.python") : FLAG;
    if (!(error instanceof EnvironmentUnavailableError) || !error.why.startsWith("Python") || origin === undefined)
      throw error;
    const { environment, why, fix } = error;
    const named = why.replace(/^Python (?:at )?'[^']*'/, (python) => `${python} from ${describeOrigin(origin)}`);
    throw new EnvironmentUnavailableError({ environment, why: named, fix }, { cause: error });
  }
}
