// The address and the key of a backend, as the configuration has them.
//
// A project's rlm.toml and .env are not trusted. They may choose models and backends, but cannot send a key of the user to an address of
// their choice, nor one key in place of another. The user allows that with a flag, a variable, in their own file, or by trusting the
// project's.

import { maskAddress } from "../util/text/mask-address.ts";
import { BACKENDS, keyVariableIn, providerOf, providerOfUrlVariable } from "../backends/provider-table.ts";
import { ConfigurationError } from "../errors.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { toKeyName } from "../util/toml/key-name.ts";
import type { Config } from "./config.ts";
import type { DotEnvFile } from "./dot-env.ts";
import type { Origin } from "./layers.ts";
import type { BackendSettings } from "./settings.ts";

export interface ChosenBackend {
  /** The kind of backend. */
  readonly type: string;
  /** Absent: that of a variable, else the provider's. */
  readonly baseUrl?: string;
  /** Absent: that of the type's own variable, if it is set. */
  readonly apiKey?: string;
}

/** An address that is not the provider's own. */
export interface Address {
  readonly url: string;
  /** It is in rlm.toml, a flag or RLM_BASE_URL. False: in a variable of the provider, such as OPENAI_BASE_URL. */
  readonly isSetting: boolean;
  /** Undefined: the environment. */
  readonly origin: Origin | undefined;
}

/** Throws a ConfigurationError if the key is missing or would go to an address that the user has not approved. */
export function chooseBackend(config: Config, name: string): ChosenBackend {
  const { apiKeyEnv } = sectionOf(config, name);
  const type = typeOf(config, name);
  const apiKey = apiKeyEnv === undefined ? undefined : config.env[apiKeyEnv]?.trim();
  if (apiKeyEnv !== undefined && !apiKey) {
    throw new ConfigurationError({
      source: config.files.at(-1)?.path ?? ".env",
      line: null,
      why: `backend '${name}' takes its key from ${apiKeyEnv}, which is not set. Set it in the environment or in .env`,
    });
  }
  checkKey(config, name);
  const address = addressOf(config, name);
  return { type, ...omitUndefined({ baseUrl: address?.isSetting === true ? address.url : undefined, apiKey }) };
}

/** The backend of all models that do not have their own. Undefined: each model's name decides. */
export function commonBackend({ rlm }: Config): string | undefined {
  // Another address is rarely OpenAI itself.
  return rlm.backend ?? (rlm.baseUrl === undefined ? undefined : "openai-compatible");
}

/** The variable that holds the key. Undefined: the backend needs none. */
export function keyVariable(config: Config, name: string): string | undefined {
  const provider = providerOf(typeOf(config, name));
  const { apiKeyEnv } = sectionOf(config, name);
  return apiKeyEnv ?? (provider && (keyVariableIn(provider, config.env) ?? provider.keyVariables[0]));
}

/** Undefined: the provider's own. */
export function addressOf(config: Config, name: string): Address | undefined {
  const common = name === commonBackend(config) ? config.rlm.baseUrl : undefined;
  const path = common === undefined ? ["backends", name, "base_url"] : ["rlm", "base_url"];
  const url = common ?? sectionOf(config, name).baseUrl;
  if (url !== undefined) return { url, isSetting: true, origin: config.origins.get(toKeyName(path)) };
  for (const variable of providerOf(typeOf(config, name))?.urlVariables ?? []) {
    const file = config.dotEnvs.find(({ values }) => Object.hasOwn(values, variable));
    if (file !== undefined && !Object.hasOwn(variablesOf(file), variable)) continue;
    const found = config.env[variable]?.trim();
    if (found) return { url: withScheme(found), isSetting: false, origin: file && toOrigin(file, variable) };
  }
  return undefined;
}

/** The variables of `.env` that backends may read: keys, and addresses that are local or have their key in the same file. */
export function backendVariables({ dotEnvs }: Config): Readonly<Record<string, string>> {
  return Object.assign({}, ...dotEnvs.toReversed().map(variablesOf)) as Record<string, string>;
}

/** The remote address that a run would use if only a project's rlm.toml or .env names it, and the file that does. */
export function untrustedAddress(
  config: Config,
  name: string,
): { readonly url: string; readonly path: string } | undefined {
  const address = addressOf(config, name);
  if (address === undefined || isApproved(address.origin) || isLoopback(address.url)) return undefined;
  return URL.canParse(address.url) ? { url: address.url, path: pathOf(address.origin) } : undefined;
}

/** Throws a ConfigurationError where a key of the user would be sent to where only the project says. */
function checkKey(config: Config, name: string): void {
  const variable = keyVariable(config, name);
  if (variable === undefined || !config.env[variable]?.trim()) return;
  const address = addressOf(config, name);
  if (isOfProject(config, variable, address)) return;
  if (address !== undefined && !isApproved(address.origin)) {
    if (!isLoopback(address.url)) throw refuse(variable, address, { isCommon: name === commonBackend(config) });
    if (address.isSetting) return;
  }
  if (address?.isSetting === true) return;
  // The address belongs to the kind of backend, and so does its own key.
  const provider = providerOf(typeOf(config, name));
  const origin = config.origins.get(toKeyName(["backends", name, "api_key_env"]));
  if (provider === undefined || provider.keyVariables.includes(variable) || isApproved(origin)) return;
  const url = address?.url ?? provider.baseUrl ?? "";
  throw refuse(variable, { url, origin }, { isCommon: false });
}

/** Whether the value of a variable is the project's own, which it may send where it likes. */
function isOfProject({ dotEnvs }: Config, variable: string, address: Address | undefined): boolean {
  const file = dotEnvs.find(({ isOwn, values }) => !isOwn && Object.hasOwn(values, variable));
  return file !== undefined && (!file.isElsewhere || pathOf(address?.origin) === file.path);
}

function refuse(
  variable: string,
  { url, origin }: Pick<Address, "url" | "origin">,
  { isCommon }: { readonly isCommon: boolean },
): ConfigurationError {
  const host = URL.canParse(url) ? new URL(url).host : "another address";
  const flags = isCommon ? `say --base-url ${maskAddress(url)}, set RLM_BASE_URL, ` : "";
  return new ConfigurationError({
    source: pathOf(origin),
    line: origin !== undefined && "line" in origin ? origin.line : null,
    why: `it would send the key in ${variable} to ${host}. If that is right, ${flags}put the key into .env beside it, or trust the file with 'rlm config trust'`,
  });
}

function sectionOf({ backends }: Config, name: string): BackendSettings {
  return (Object.hasOwn(backends, name) ? backends[name] : undefined) ?? {};
}

/** An undefined name is left as it is: opening the backend refuses it. */
function typeOf(config: Config, name: string): string {
  const isUnknown = !Object.hasOwn(config.backends, name) || BACKENDS.includes(name);
  return sectionOf(config, name).type ?? (isUnknown ? name : "openai-compatible");
}

function variablesOf({ isOwn, values }: DotEnvFile): Readonly<Record<string, string>> {
  const isAllowed = ([name, value]: readonly [string, string]): boolean => {
    if (name.endsWith("_API_KEY") || name === "OPENAI_API_VERSION") return true;
    if (!isAddress(name)) return false;
    return isOwn || isLoopback(value) || keysFor(name).some((key) => (values[key] ?? "").trim() !== "");
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

function toOrigin({ path, isOwn }: DotEnvFile, variable: string): Origin {
  return { kind: "dot-env", path, variable, isApproved: isOwn };
}

function isApproved(origin: Origin | undefined): boolean {
  return origin?.isApproved !== false;
}

function pathOf(origin: Origin | undefined): string {
  return origin !== undefined && "path" in origin ? origin.path : ".env";
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
