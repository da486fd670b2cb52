// Chooses the backend of a run, its address and its key.
//
// A project's rlm.toml and .env are not trusted. They may choose a model, but cannot send a key of the user to an address
// of their choice. The user allows that with a flag, a variable, in their own file, or by trusting the project's.

import { backendOfModel, providerOf, providerOfUrlVariable } from "../backends/provider-table.ts";
import { ConfigurationError } from "../errors.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import type { Config } from "./config.ts";
import { toKeyName } from "../util/toml/key-name.ts";
import type { Origin } from "./layers.ts";
import type { DotEnvFile } from "./dot-env.ts";
import type { BackendSettings } from "./settings.ts";

export interface ChosenBackend {
  readonly backend: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
}

/** Throws a ConfigurationError if the key is missing or would go to an address that the user has not approved. */
export function chooseBackend(config: Config): ChosenBackend {
  const { env, rlm } = config;
  const name = backendName(config);
  const { type = name, baseUrl: ownUrl, apiKeyEnv } = sectionOf(config);
  const baseUrl = rlm.baseUrl ?? ownUrl;
  const apiKey = apiKeyEnv === undefined ? undefined : env[apiKeyEnv];
  if (apiKeyEnv !== undefined && !apiKey) {
    throw new ConfigurationError({
      source: config.files.at(-1)?.path ?? ".env",
      line: null,
      why: `backend '${name}' takes its key from ${apiKeyEnv}, which is not set. Set it in the environment or in .env`,
    });
  }
  if (baseUrl !== undefined) checkAddress(config, baseUrl, apiKeyEnv ?? defaultVariable(type, env));
  return { backend: type, ...omitUndefined({ baseUrl, apiKey }) };
}

/** The configured name, or the default for the model. */
export function backendName({ rlm }: Config): string {
  return rlm.backend ?? defaultBackend(rlm);
}

/** The variable that holds the key. Undefined: the backend needs none. */
export function keyVariable(config: Config): string | undefined {
  const { type = backendName(config), apiKeyEnv } = sectionOf(config);
  return apiKeyEnv ?? defaultVariable(type, config.env);
}

function sectionOf(config: Config): BackendSettings {
  const name = backendName(config);
  return (Object.hasOwn(config.backends, name) ? config.backends[name] : undefined) ?? {};
}

/** Where the address comes from. Undefined: it is the provider's own. */
export function addressOrigin(config: Config): Origin | undefined {
  const path = config.rlm.baseUrl === undefined ? ["backends", backendName(config), "base_url"] : ["rlm", "base_url"];
  return config.origins.get(toKeyName(path));
}

/** The variables of `.env` that backends may read: keys, and addresses that are local or have their key in the same file. */
export function backendVariables({ dotEnvs }: Config): Readonly<Record<string, string>> {
  return Object.assign({}, ...dotEnvs.toReversed().map(variablesOf)) as Record<string, string>;
}

function variablesOf({ isOwn, values }: DotEnvFile): Readonly<Record<string, string>> {
  const isAllowed = ([name, value]: readonly [string, string]): boolean => {
    if (name.endsWith("_API_KEY") || name === "OPENAI_API_VERSION") return true;
    if (!isAddress(name)) return false;
    return isOwn || isLoopback(value) || keysFor(name).some((key) => values[key] !== undefined);
  };
  return Object.fromEntries(Object.entries(values).filter(isAllowed));
}

/** Whether a variable holds the address of a provider. */
function isAddress(name: string): boolean {
  if (name.startsWith("RLM_")) return false;
  return name.endsWith("_BASE_URL") || providerOfUrlVariable(name) !== undefined;
}

/** The variables whose keys are sent to the address in this one. */
function keysFor(name: string): readonly string[] {
  return providerOfUrlVariable(name)?.keyVariables ?? [name.replace(/_BASE_URL$/, "_API_KEY")];
}

/** The remote address that a run would use if only a project's rlm.toml or .env names it, and the file that does. */
export function untrustedAddress(config: Config): { readonly url: string; readonly path: string } | undefined {
  const { baseUrl: url } = chooseBackend(config);
  if (url !== undefined) {
    const origin = addressOrigin(config);
    return isApproved(origin) || isLoopback(url) ? undefined : { url, path: pathOf(origin) };
  }
  for (const file of config.dotEnvs) {
    if (file.isOwn) continue;
    const isRemote = ([name, value]: [string, string]): boolean =>
      isAddress(name) && !isLoopback(value) && URL.canParse(withScheme(value));
    const found = Object.entries(variablesOf(file)).find(isRemote);
    if (found !== undefined) return { url: withScheme(found[1]), path: file.path };
  }
  return undefined;
}

function checkAddress(config: Config, baseUrl: string, variable: string | undefined): void {
  const { dotEnvs, env } = config;
  const origin = addressOrigin(config);
  if (isApproved(origin) || isLoopback(baseUrl) || variable === undefined || !env[variable]) return;
  const project = dotEnvs.find(({ isOwn, values }) => !isOwn && Object.hasOwn(values, variable));
  if (project !== undefined && (!project.isElsewhere || pathOf(origin) === project.path)) return;
  throw new ConfigurationError({
    source: pathOf(origin),
    line: origin !== undefined && "line" in origin ? origin.line : null,
    why: `it would send the key in ${variable} to ${new URL(baseUrl).host}. If that is right, say --base-url ${baseUrl}, set RLM_BASE_URL, put the key into .env beside it, or trust the file with 'rlm config trust'`,
  });
}

function isApproved(origin: Origin | undefined): boolean {
  return origin?.isApproved !== false;
}

function pathOf(origin: Origin | undefined): string {
  return origin !== undefined && "path" in origin ? origin.path : ".env";
}

/** Another address is rarely OpenAI itself. */
function defaultBackend({ model = "", baseUrl }: Config["rlm"]): string {
  return baseUrl === undefined ? backendOfModel(model) : "openai-compatible";
}

/** The variable that a backend reads by default: the first one that is set. */
function defaultVariable(type: string, env: Config["env"]): string | undefined {
  const variables = providerOf(type)?.keyVariables ?? [];
  return variables.find((variable) => env[variable]) ?? variables[0];
}

function isLoopback(address: string): boolean {
  const text = withScheme(address);
  if (!URL.canParse(text)) return false;
  const { hostname } = new URL(text);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** OLLAMA_HOST may be a host and a port. */
function withScheme(address: string): string {
  return address.includes("://") ? address : `http://${address}`;
}
