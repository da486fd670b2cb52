// Backends by name, as in the configuration and on the command line.

import { BackendConnectionError } from "../errors.ts";
import { checkDuration } from "../util/check-number.ts";
import { didYouMean } from "../util/text/did-you-mean.ts";
import type { Backend } from "./backend.ts";
import { parseBaseUrl, UnusableAddress } from "./base-url.ts";
import { BACKENDS, keyVariableIn, providerOf, type Provider } from "./provider-table.ts";
import type { OpenProviderOptions } from "./providers/open-provider.ts";
import type { TimeLimits } from "./providers/response-limits.ts";

export interface BackendOptions {
  /** What errors and events call it. Default: the kind of backend that it is. */
  readonly name?: string;
  /** Default: from the environment: `OPENAI_API_KEY` and so on. */
  readonly apiKey?: string;
  /** Default: from the environment, then the provider's own. `openai-compatible` has no default. */
  readonly baseUrl?: string;
  /** Where keys and addresses are looked up. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<TimeLimits>;
  /** Names that the caller has given to backends, for the message where there is no such backend. */
  readonly others?: readonly string[];
}

const defaults: TimeLimits = { firstByteMs: 120_000, betweenBytesMs: 60_000, totalMs: 1_800_000 };
const MAX_FIRST_BYTE_MS = 300_000;

/**
 * Loads the backend. Makes no request and opens nothing that must be closed. Throws a BackendConnectionError (`configuration`) for an
 * unknown name, a missing key or an invalid address.
 */
export async function openBackend(type: string, options: BackendOptions = {}): Promise<Backend> {
  if (type === "scripted") {
    const { ScriptFilesBackend } = await import("./scripted/script-file.ts");
    return new ScriptFilesBackend();
  }
  const settings = settingsOf(type, options);
  const { openProvider } = await import("./providers/open-provider.ts");
  return openProvider(settings);
}

/** Throws what `openBackend` would throw, and loads nothing. */
export function checkBackend(type: string, options: BackendOptions = {}): void {
  if (type !== "scripted") settingsOf(type, options);
}

/** The key of a backend, wherever it comes from: it must appear nowhere. */
export function secretsOf(type: string, options: BackendOptions = {}): readonly string[] {
  const key = findKey(providerOf(type), options);
  return key === "" ? [] : [key];
}

/** The address of a backend, completed. A host alone means what its variables often hold: the address without its `/v1`. */
export function baseUrlOf(type: string, options: BackendOptions = {}): string {
  const { name = type, baseUrl, env = process.env } = options;
  const provider = toProvider(type, options);
  const variable = provider.urlVariables.find((each) => (env[each] ?? "").trim() !== "") ?? "";
  const text = (baseUrl ?? env[variable] ?? "").trim() || (provider.baseUrl ?? "");
  try {
    return parseBaseUrl(text, provider, env);
  } catch (error) {
    throw error instanceof UnusableAddress ? configuration(name, error.message) : error;
  }
}

function toProvider(type: string, { name = type, others = [] }: BackendOptions): Provider {
  const provider = providerOf(type);
  if (provider !== undefined) return provider;
  const known = [...(name === type ? others : []), ...BACKENDS].filter((other) => other !== type);
  const near = didYouMean(type, known);
  const suggestion = near === undefined ? "" : `. Did you mean '${near}'?`;
  throw configuration(name, `there is no backend '${type}', only ${known.join(", ")}${suggestion}`);
}

function settingsOf(type: string, options: BackendOptions): OpenProviderOptions {
  const { name = type } = options;
  const provider = toProvider(type, options);
  const apiKey = keyOf(provider, name, options);
  return { name, protocol: provider.protocol, apiKey, baseUrl: baseUrlOf(type, options), limits: limitsOf(options) };
}

function findKey(provider: Provider | undefined, { apiKey, env = process.env }: BackendOptions): string {
  const variable = provider === undefined ? undefined : keyVariableIn(provider, env);
  return (apiKey ?? env[variable ?? ""] ?? "").trim();
}

function keyOf(provider: Provider, name: string, options: BackendOptions): string | null {
  const { keyVariables, needsKey } = provider;
  const key = findKey(provider, options);
  if (key === "") {
    if (!needsKey) return null;
    throw configuration(name, `there is no key. Set ${keyVariables[0]}`);
  }
  // For a header that it cannot send, Node shows its value in the error.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw configuration(name, `the key has characters that no key has. Set ${keyVariables[0]} again`);
  }
  return key;
}

function limitsOf({ limits = {} }: BackendOptions): TimeLimits {
  const resolved = { ...defaults, ...limits };
  for (const [name, value] of Object.entries(resolved)) checkDuration(name, value ?? 0);
  if (resolved.firstByteMs > MAX_FIRST_BYTE_MS) {
    throw new RangeError(`Cannot use ${resolved.firstByteMs} as firstByteMs: it can be at most ${MAX_FIRST_BYTE_MS}`);
  }
  return resolved;
}

function configuration(backend: string, why: string): BackendConnectionError {
  return new BackendConnectionError({ backend, fault: "configuration", why, retryable: false });
}
