// The environments that exist, by name. To add one, add its entry here and run the contract suite against it.

import { EnvironmentUnavailableError } from "../errors.ts";
import { didYouMean } from "../util/text/did-you-mean.ts";
import type { Environment, EnvironmentOptions } from "./environment.ts";

/** Only creates: nothing is started before `warm` or the first sandbox. */
export type CreateEnvironment = (options: EnvironmentOptions) => Environment;

/** Each loads its code when it is first used. Null: planned, and not part of this version. */
const REGISTRY = {
  local: async (): Promise<CreateEnvironment> => {
    const { LocalEnvironment } = await import("./local/local.ts");
    return (options) => new LocalEnvironment(options);
  },
  docker: null,
  wasm: async (): Promise<CreateEnvironment> => {
    const { WasmEnvironment } = await import("./wasm/wasm.ts");
    return (options) => new WasmEnvironment(options);
  },
};

export type EnvironmentName = keyof typeof REGISTRY;

export const DEFAULT_ENVIRONMENT: EnvironmentName = "local";
export const ENVIRONMENT_NAMES = Object.keys(REGISTRY) as readonly EnvironmentName[];

/** Throws EnvironmentUnavailableError for a name that is unknown or only planned. */
export async function loadEnvironment(name: string): Promise<CreateEnvironment> {
  const load = isKnown(name) ? REGISTRY[name] : undefined;
  if (load) return load();
  throw new EnvironmentUnavailableError({
    environment: name,
    why: load === null ? "this version does not have it yet" : "there is no such environment",
    fix: load === null ? `Use '${DEFAULT_ENVIRONMENT}'` : suggest(name),
  });
}

/** Whether this version has it. */
export function isKnownEnvironment(name: string): boolean {
  return isKnown(name) && REGISTRY[name] !== null;
}

function isKnown(name: string): name is EnvironmentName {
  return Object.hasOwn(REGISTRY, name);
}

function suggest(name: string): string {
  const meant = didYouMean(name, ENVIRONMENT_NAMES);
  const names = ENVIRONMENT_NAMES.join(", ");
  return meant === undefined ? `Use one of: ${names}` : `Did you mean '${meant}'? Known are: ${names}`;
}
