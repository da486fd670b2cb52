// The environments that exist, by name. To add one, add its entry here and run the contract suite against it.

import type { DockerOptions } from "../api/local.ts";
import { EnvironmentUnavailableError } from "../errors.ts";
import { didYouMean } from "../util/text/did-you-mean.ts";
import type { Environment, EnvironmentOptions } from "./environment.ts";

/** Only creates: nothing is started before `warm` or the first sandbox. */
export type CreateEnvironment = (options: EnvironmentOptions) => Environment;

/** Each loads its code when it is first used. */
const REGISTRY = {
  local: async (): Promise<CreateEnvironment> => {
    const { LocalEnvironment } = await import("./local/local.ts");
    return (options) => new LocalEnvironment(options);
  },
  docker: async (): Promise<CreateEnvironment> => {
    const { DockerEnvironment } = await import("./docker/docker.ts");
    return (options) => new DockerEnvironment(options);
  },
  wasm: async (): Promise<CreateEnvironment> => {
    const { WasmEnvironment } = await import("./wasm/wasm.ts");
    return (options) => new WasmEnvironment(options);
  },
};

/** What `rlm env add` does, by environment. Null: it needs nothing. */
const INSTALLERS: Readonly<Record<keyof typeof REGISTRY, (() => Promise<InstallEnvironment>) | null>> = {
  local: null,
  docker: async () => (await import("./docker/setup.ts")).addDocker,
  wasm: async () => (await import("./wasm/install.ts")).installWasm,
};

/** What `rlm doctor` says of an environment that needs something: it looks, and changes nothing. */
const CHECKS = {
  docker: async (): Promise<CheckEnvironment> => (await import("./docker/setup.ts")).checkDocker,
  wasm: async (): Promise<CheckEnvironment> => {
    const { findPyodide, PYODIDE_VERSION } = await import("./wasm/pyodide.ts");
    return async () => `Pyodide ${PYODIDE_VERSION} in ${findPyodide()}`;
  },
};

type CheckEnvironment = (options: CheckOptions) => Promise<string>;

export interface InstallOptions {
  readonly docker?: DockerOptions | undefined;
  /** The image to pull. Default: that of `docker`. */
  readonly image?: string | undefined;
  /** An interpreter to build an image from. */
  readonly python?: string | undefined;
  /** Reinstalls it. Default: false. */
  readonly force?: boolean | undefined;
  /** The package: this file is used instead of downloading. */
  readonly package?: string | undefined;
  readonly onProgress?: (text: string) => void;
}

export interface CheckOptions {
  readonly docker?: DockerOptions | undefined;
  /** For an engine to answer. Default: 3 s. */
  readonly limitMs?: number | undefined;
}

/** Returns what was done, for people: sentences without a full stop. */
export type InstallEnvironment = (options: InstallOptions) => Promise<readonly string[]>;

/** Installs what an environment needs on this machine. Undefined: it needs nothing. Throws EnvironmentUnavailableError. */
export async function installEnvironment(
  name: EnvironmentName,
  options: InstallOptions,
): Promise<readonly string[] | undefined> {
  const load = INSTALLERS[name];
  return load === null ? undefined : (await load())(options);
}

/** What it would use, as a sentence without a full stop. Throws EnvironmentUnavailableError: why it cannot be had, and the fix. */
export async function checkEnvironment(name: keyof typeof CHECKS, options: CheckOptions): Promise<string> {
  return (await CHECKS[name]())(options);
}

export type EnvironmentName = keyof typeof REGISTRY;

export const DEFAULT_ENVIRONMENT: EnvironmentName = "local";
export const ENVIRONMENT_NAMES = Object.keys(REGISTRY) as readonly EnvironmentName[];

/** Throws EnvironmentUnavailableError for a name that is unknown. */
export async function loadEnvironment(name: string): Promise<CreateEnvironment> {
  if (isKnownEnvironment(name)) return REGISTRY[name]();
  throw new EnvironmentUnavailableError({
    environment: name,
    why: "there is no such environment",
    fix: suggest(name),
  });
}

export function isKnownEnvironment(name: string): name is EnvironmentName {
  return Object.hasOwn(REGISTRY, name);
}

function suggest(name: string): string {
  const meant = didYouMean(name, ENVIRONMENT_NAMES);
  const names = ENVIRONMENT_NAMES.join(", ");
  return meant === undefined ? `Use one of: ${names}` : `Did you mean '${meant}'? Known are: ${names}`;
}
