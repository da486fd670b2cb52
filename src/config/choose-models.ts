// The models of runs: the four roles, models and backends by name, with their settings.
//
// A backend that a role needs has to be usable. Others are for `llm_query(model=...)`: one that cannot be used says why when it is asked.

import type { Backend } from "../backends/backend.ts";
import { resolveModel } from "../backends/models/resolve-model.ts";
import { BackendConnectionError, ConfigurationError } from "../errors.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { toKeyName } from "../util/toml/key-name.ts";
import { chooseBackend, commonBackend, type ChosenBackend } from "./choose-backend.ts";
import type { Config } from "./config.ts";
import type { DefinedModel, RLMSettings } from "./settings.ts";

/** As `runtime.rlm` takes them. */
export interface ChosenModels extends Settings {
  readonly model?: string;
  readonly subModel?: string;
  readonly childModel?: string;
  readonly extractModel?: string;
  readonly models: Readonly<Record<string, DefinedModel>>;
  readonly backends: Readonly<Record<string, ChosenBackend | Backend>>;
  readonly backend?: string;
}

type Settings = Pick<RLMSettings, (typeof SETTINGS)[number]>;

const SETTINGS = ["temperature", "seed", "reasoningEffort", "maxTokens", "extraBody", "strategy"] as const;
const FILES: ReadonlySet<string | undefined> = new Set([undefined, "user-file", "project-file", "named-file"]);

/** Throws a ConfigurationError where a role cannot be used. `check` may refuse more backends than that. */
export function chooseModels(config: Config, check: (backend: string) => void = () => {}): ChosenModels {
  const { model, subModel, childModel, extractModel } = config.rlm;
  const needed = backendsOfRoles(config);
  const choose = (name: string): ChosenBackend => {
    const chosen = chooseBackend(config, name);
    check(name);
    return chosen;
  };
  const chooseOrRefuse = (name: string): ChosenBackend | Backend => {
    try {
      return choose(name);
    } catch (error) {
      if (needed.includes(name) || !(error instanceof ConfigurationError)) throw error;
      return refusing(name, error);
    }
  };
  const names = new Set([...needed, ...Object.keys(config.backends), ...backendsOfModels(config)]);
  return {
    ...omitUndefined({ model, subModel, childModel, extractModel, backend: commonBackend(config) }),
    ...pickSettings(config.rlm),
    models: withOverrides(config),
    backends: Object.fromEntries([...names].map((name) => [name, chooseOrRefuse(name)])),
  };
}

/** The backends that answer for a role. */
export function backendsOfRoles(config: Config): readonly string[] {
  return [...new Set(rolesOf(config).map((name) => backendOf(config, name)))];
}

/** The models that a run asks by itself. */
export function rolesOf({ rlm }: Config): readonly string[] {
  return [rlm.model, rlm.subModel, rlm.childModel, rlm.extractModel].filter((name) => name !== undefined);
}

/** The backend that answers for a model. */
export function backendOf(config: Config, model: string): string {
  const { models, backends } = config;
  const common = commonBackend(config);
  return resolveModel(model, { models, backends, hasBackend: common !== undefined }).backend ?? common ?? "";
}

function backendsOfModels(config: Config): readonly string[] {
  return Object.keys(config.models).map((name) => backendOf(config, name));
}

function pickSettings(settings: Settings): Settings {
  return omitUndefined(Object.fromEntries(SETTINGS.map((name) => [name, settings[name]])));
}

/** Flags and variables win over files, so they win over the settings of a model as well. */
function withOverrides({ models, rlm, origins }: Config): ChosenModels["models"] {
  const isOverride = (name: keyof Settings): boolean => !FILES.has(origins.get(toKeyName(["rlm", toKey(name)]))?.kind);
  const chosen = SETTINGS.filter((name) => rlm[name] !== undefined && isOverride(name));
  const overrides = Object.fromEntries(chosen.map((name) => [name, rlm[name]]));
  return Object.fromEntries(Object.entries(models).map(([name, model]) => [name, { ...model, ...overrides }]));
}

function toKey(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function refusing(name: string, { message }: ConfigurationError): Backend {
  const refuse = (): never => {
    throw new BackendConnectionError({ backend: name, fault: "configuration", why: message, retryable: false });
  };
  return { name, stream: refuse };
}
