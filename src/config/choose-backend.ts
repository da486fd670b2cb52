// Which backend a run uses, where it is, and with which key.
//
// A folder that was fetched from somewhere may have an rlm.toml and an .env of its own. It can choose a model; it cannot have a key of
// the user's sent to an address of its choice: that the user says with a flag, a variable, or in the file of their own.

import { ConfigurationError } from "../errors.ts";
import type { Config } from "./config.ts";
import type { BackendSettings } from "./settings.ts";

export interface ChosenBackend {
  readonly backend: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
}

/** Throws a ConfigurationError where the key is not there, or would go to an address that the user has not agreed to. */
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
  if (baseUrl !== undefined) checkAddress(config, baseUrl, apiKeyEnv ?? usualVariable(type));
  return {
    backend: type,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiKey !== undefined && { apiKey }),
  };
}

/** As the user knows it. */
export function backendName({ rlm }: Config): string {
  return rlm.backend ?? usualBackend(rlm);
}

/** Where its key is looked for. Undefined: it has none. */
export function keyVariable(config: Config): string | undefined {
  const { type = backendName(config), apiKeyEnv } = sectionOf(config);
  return apiKeyEnv ?? usualVariable(type);
}

function sectionOf(config: Config): BackendSettings {
  const name = backendName(config);
  return (Object.hasOwn(config.backends, name) ? config.backends[name] : undefined) ?? {};
}

/** What backends may read from `.env`: keys, and addresses that have their key beside them or are on this machine. */
export function backendVariables({ dotEnv }: Config): Readonly<Record<string, string>> {
  const isOwn = ([name, value]: readonly [string, string]): boolean => {
    if (name.endsWith("_API_KEY")) return true;
    if (!name.endsWith("_BASE_URL") || name.startsWith("RLM_")) return false;
    return isLoopback(value) || dotEnv[name.replace(/_BASE_URL$/, "_API_KEY")] !== undefined;
  };
  return Object.fromEntries(Object.entries(dotEnv).filter(isOwn));
}

/** The address that a run would use where nobody but a folder's rlm.toml or .env says it, and it is not on this machine. */
export function addressOfFolder(config: Config): string | undefined {
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

/** At another address there is rarely OpenAI itself. */
function usualBackend({ model = "", baseUrl }: Config["rlm"]): string {
  if (baseUrl !== undefined) return "openai-compatible";
  return model.startsWith("claude") ? "anthropic" : "openai";
}

/** The key that a backend looks for by itself. */
function usualVariable(type: string): string | undefined {
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
