// Chooses the backend of a run, its address and its key.
//
// A project's rlm.toml and .env are not trusted. They may choose a model, but cannot send a key of the user to an address
// of their choice. The user allows that with a flag, a variable, or in their own file.

import { ConfigurationError } from "../errors.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import type { Config } from "./config.ts";
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
    throw refuse(
      config,
      `backend '${name}' takes its key from ${apiKeyEnv}, which is not set. Set it in the environment or in .env`,
    );
  }
  if (baseUrl !== undefined) checkAddress(config, baseUrl, apiKeyEnv ?? defaultVariable(type));
  return { backend: type, ...omitUndefined({ baseUrl, apiKey }) };
}

/** The configured name, or the default for the model. */
export function backendName({ rlm }: Config): string {
  return rlm.backend ?? defaultBackend(rlm);
}

/** The variable that holds the key. Undefined: the backend needs none. */
export function keyVariable(config: Config): string | undefined {
  const { type = backendName(config), apiKeyEnv } = sectionOf(config);
  return apiKeyEnv ?? defaultVariable(type);
}

function sectionOf(config: Config): BackendSettings {
  const name = backendName(config);
  return (Object.hasOwn(config.backends, name) ? config.backends[name] : undefined) ?? {};
}

/** The variables of `.env` that backends may read: keys, and addresses that are local or have their key beside them. */
export function backendVariables({ dotEnv }: Config): Readonly<Record<string, string>> {
  const isAllowed = ([name, value]: readonly [string, string]): boolean => {
    if (name.endsWith("_API_KEY")) return true;
    if (!name.endsWith("_BASE_URL") || name.startsWith("RLM_")) return false;
    return isLoopback(value) || dotEnv[name.replace(/_BASE_URL$/, "_API_KEY")] !== undefined;
  };
  return Object.fromEntries(Object.entries(dotEnv).filter(isAllowed));
}

/** The remote address that a run would use if only a project's rlm.toml or .env names it. */
export function untrustedAddress(config: Config): string | undefined {
  const { agreedUrl, isOwnFile } = config;
  const { baseUrl } = chooseBackend(config);
  if (baseUrl !== undefined) return isOwnFile || baseUrl === agreedUrl || isLoopback(baseUrl) ? undefined : baseUrl;
  const variables = Object.entries(backendVariables(config));
  return variables.find(([name, value]) => name.endsWith("_BASE_URL") && !isLoopback(value))?.[1];
}

function checkAddress(config: Config, baseUrl: string, variable: string | undefined): void {
  const { agreedUrl, dotEnv, env, isOwnFile } = config;
  const isSafe = isOwnFile || baseUrl === agreedUrl || isLoopback(baseUrl);
  if (isSafe || variable === undefined || !env[variable] || dotEnv[variable] !== undefined) return;
  throw refuse(
    config,
    `it would send the key in ${variable} to ${new URL(baseUrl).host}. If that is right, say --base-url ${baseUrl}, set RLM_BASE_URL, or put the key into .env beside it`,
  );
}

/** Another address is rarely OpenAI itself. */
function defaultBackend({ model = "", baseUrl }: Config["rlm"]): string {
  if (baseUrl !== undefined) return "openai-compatible";
  return model.startsWith("claude") ? "anthropic" : "openai";
}

/** The variable that a backend reads by default. */
function defaultVariable(type: string): string | undefined {
  if (type === "scripted") return undefined;
  if (type === "openai-compatible") return "OPENAI_COMPATIBLE_API_KEY";
  return type === "anthropic" ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
}

function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function refuse({ path }: Config, why: string): ConfigurationError {
  return new ConfigurationError({ source: path ?? ".env", line: null, why });
}
