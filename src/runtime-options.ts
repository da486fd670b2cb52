// Options in, complete settings out: for a runtime, and for each session in it. Defaults are applied here and nowhere else.

import type { Limits, RuntimeOptions as PublicOptions } from "./api/local.ts";
import type { Environment, EnvironmentOptions, SandboxOptions } from "./environments/environment.ts";
import { requireCapability } from "./environments/capabilities.ts";
import { linkMounts, toRealPaths } from "./environments/mounts.ts";
import { DEFAULT_ENVIRONMENT } from "./environments/registry.ts";
import type { OutputLimits } from "./output/output-log.ts";
import { DEFAULT_LIMITS } from "./session/default-limits.ts";
import { checkEnvironment, checkLimits, checkMemoryIn, withDefaults } from "./session/options.ts";
import type { SessionOptions } from "./session/options.ts";
import type { SessionNames, SessionSettings } from "./session/session.ts";
import { SessionFileWriter } from "./store/session-file.ts";
import type { ActiveWork } from "./util/async/active-work.ts";
import { checkCount, checkDuration } from "./util/check-number.ts";
import { dataPath } from "./util/data-folder.ts";
import { parseModuleList } from "./util/python-name.ts";
import { parseUserRange, USER_RANGE_RULE, type UserRange } from "./util/user-range.ts";

/** Without what is undefined, which counts as absent. */
export type RuntimeOptions = { readonly [name in keyof PublicOptions]: Exclude<PublicOptions[name], undefined> };

/** The options of a runtime with every default applied. */
export type RuntimeSettings = Required<Omit<RuntimeOptions, "limits" | "python" | "users">> & {
  readonly limits: Limits;
  readonly python: string | undefined;
  readonly users: UserRange | undefined;
};

/** What sessions need besides their options: what the runtime shares among them. */
export interface SharedParts {
  readonly environment: Environment;
  readonly output: OutputLimits;
  readonly activeWork: ActiveWork;
  readonly readStdlib: () => string | undefined;
}

/** What model-written code imports most. Imports then cost nothing, and sessions share their memory. */
const DEFAULT_PRELOAD = (
  "asyncio collections csv dataclasses datetime decimal functools hashlib itertools json math pathlib random re shutil " +
  "statistics string subprocess tempfile textwrap typing urllib.parse uuid numpy pandas"
).split(" ");
const DEFAULT_AUTO_CHECKPOINTS = 10;
/** Between an interrupt and the kill of code that ignores it. */
const GRACE_MS = 2_000;

/** Throws a TypeError or RangeError for values that can never work. */
export function toRuntimeSettings(options: RuntimeOptions): RuntimeSettings {
  checkLimits(options.limits);
  checkCount("poolSize", options.poolSize, 0);
  checkDuration("timeoutMs", options.timeoutMs);
  checkDuration("idleTimeoutMs", options.idleTimeoutMs);
  checkPreload(options);
  const environment = options.environment ?? DEFAULT_ENVIRONMENT;
  const limits = withDefaults(DEFAULT_LIMITS, options.limits);
  checkMemoryIn(environment, limits);
  return {
    environment,
    python: options.python ?? process.env["RLM_PYTHON"],
    preload: options.preload ?? parseModuleList(process.env["RLM_PRELOAD"]) ?? DEFAULT_PRELOAD,
    poolSize: options.poolSize ?? 3,
    limits,
    mounts: options.mounts ?? [],
    timeoutMs: toLimit(options.timeoutMs, 55_000),
    idleTimeoutMs: toLimit(options.idleTimeoutMs, 5 * 60_000),
    users: toUserRange(options.users ?? process.env["RLM_SANDBOX_USERS"]),
    stdlibPath: options.stdlibPath ?? dataPath("stdlib.py"),
    docker: options.docker ?? {},
    wasm: options.wasm ?? {},
    onProgress: options.onProgress ?? (() => {}),
    ids: options.ids ?? "short",
  };
}

export function toEnvironmentOptions(
  settings: RuntimeSettings,
  listeners: Pick<EnvironmentOptions, "onLessMemory" | "onProcess">,
): EnvironmentOptions {
  const { python, preload, poolSize, users, docker, wasm, onProgress } = settings;
  const poolOptions = toSandboxOptions(settings, {});
  return { python, preload, poolSize, users, docker, wasm, onProgress, poolOptions, ...listeners };
}

/** Throws a TypeError or RangeError for values that can never work. */
export function checkSessionOptions({ limits, idleTimeoutMs, autoCheckpoint, env }: SessionOptions): void {
  checkLimits(limits);
  checkDuration("idleTimeoutMs", idleTimeoutMs);
  if (typeof autoCheckpoint !== "boolean") checkCount("autoCheckpoint", autoCheckpoint, 0);
  if (env !== undefined) checkEnvironment(env);
}

/** Throws ForkRefusedError where the options need a capability that the environment lacks, and RangeError where they give it too little memory. */
export function toSessionSettings(
  options: SessionOptions,
  settings: RuntimeSettings,
  { environment, output, activeWork, readStdlib }: SharedParts,
): Omit<SessionSettings, keyof SessionNames> {
  const { autoCheckpoint = false, includeStdlib = true } = options;
  if (autoCheckpoint) requireCapability(environment, "checkpoint", "open a session with autoCheckpoint");
  const sandboxOptions = toSandboxOptions(settings, options);
  checkMemoryIn(environment.name, sandboxOptions.limits);
  return {
    environment,
    output,
    activeWork,
    sandboxOptions,
    env: options.env ?? {},
    links: linkMounts(sandboxOptions.mounts).links,
    cwd: options.cwd,
    argv: options.argv,
    readStdlib: includeStdlib ? readStdlib : undefined,
    onCall: options.onCall ?? refuseCall,
    defaultTimeoutMs: settings.timeoutMs,
    idleTimeoutMs: toLimit(options.idleTimeoutMs, settings.idleTimeoutMs),
    graceMs: GRACE_MS,
    maxWaiting: settings.limits.waiting,
    autoCheckpoints: autoCheckpoint === true ? DEFAULT_AUTO_CHECKPOINTS : Number(autoCheckpoint),
    openStateWriter: (path) => new SessionFileWriter(path),
  };
}

function toSandboxOptions(settings: RuntimeSettings, { mounts = [], limits = {} }: SessionOptions): SandboxOptions {
  const { memoryBytes, diskBytes, processes, openFiles, branches } = withDefaults(settings.limits, limits);
  return {
    mounts: toRealPaths([...settings.mounts, ...mounts]),
    limits: { memoryBytes, diskBytes, processes, openFiles, branches },
  };
}

/** A default, such as RLM_PRELOAD, is for the other environments of a runtime. */
function checkPreload({ environment, preload = [] }: RuntimeOptions): void {
  if (environment !== "wasm" || preload.length === 0) return;
  throw new TypeError(
    `Cannot preload ${preload.join(", ")} in environment 'wasm': its sessions start from one memory snapshot. Leave preload out; code imports what it needs`,
  );
}

/** An empty text counts as absent. */
function toUserRange(text: string | undefined): UserRange | undefined {
  if (text === undefined || text === "") return undefined;
  const range = parseUserRange(text);
  if (range === undefined) throw new RangeError(`Cannot use '${text}' as users: it ${USER_RANGE_RULE}`);
  return range;
}

/** Null and Infinity are values: no limit. */
function toLimit(value: number | null | undefined, otherwise: number | null): number | null {
  if (value === undefined) return otherwise;
  return value === Infinity ? null : value;
}

async function refuseCall({ name }: { readonly name: string }): Promise<never> {
  throw new Error(`No call named '${name}' is answered in this session`);
}
