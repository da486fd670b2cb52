// Backends by name, as in the configuration and on the command line.

import { BackendConnectionError } from "../errors.ts";
import { checkDuration } from "../util/check-number.ts";
import type { Backend } from "./backend.ts";
import type { ProviderName } from "./providers/provider-backend.ts";
import type { TimeLimits } from "./providers/response-limits.ts";

export interface BackendOptions {
  /** Default: from the environment: `OPENAI_API_KEY` and so on. */
  readonly apiKey?: string;
  /** Default: from the environment, then the provider's own. `openai-compatible` has no default. */
  readonly baseUrl?: string;
  /** Where keys and addresses are looked up. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<TimeLimits>;
}

interface Provider {
  readonly keyVariable: string;
  readonly needsKey: boolean;
  readonly urlVariable: string;
  readonly baseUrl: string | null;
}

const providers: Readonly<Record<ProviderName, Provider>> = {
  openai: {
    keyVariable: "OPENAI_API_KEY",
    needsKey: true,
    urlVariable: "OPENAI_BASE_URL",
    baseUrl: "https://api.openai.com/v1",
  },
  anthropic: {
    keyVariable: "ANTHROPIC_API_KEY",
    needsKey: true,
    urlVariable: "ANTHROPIC_BASE_URL",
    baseUrl: "https://api.anthropic.com/v1",
  },
  "openai-compatible": {
    // A variable of its own: a key for OpenAI must not go to another host.
    keyVariable: "OPENAI_COMPATIBLE_API_KEY",
    needsKey: false,
    urlVariable: "OPENAI_COMPATIBLE_BASE_URL",
    baseUrl: null,
  },
};

/** The names that `openBackend` knows. */
const BACKENDS: readonly string[] = [...Object.keys(providers), "scripted"];

const defaults: TimeLimits = { firstByteMs: 120_000, betweenBytesMs: 60_000, totalMs: 1_800_000 };
const MAX_FIRST_BYTE_MS = 300_000;

/**
 * Loads the backend. Makes no request and opens nothing that must be closed. Throws a BackendConnectionError (`configuration`) for an
 * unknown name, a missing key or an invalid address.
 */
export async function openBackend(name: string, options: BackendOptions = {}): Promise<Backend> {
  if (name === "scripted") {
    const { ScriptFilesBackend } = await import("./scripted/script-file.ts");
    return new ScriptFilesBackend();
  }
  const provider = toProvider(name);
  const settings = settingsOf(provider, options);
  const { ProviderBackend } = await import("./providers/provider-backend.ts");
  return new ProviderBackend(provider, settings);
}

/** Throws what `openBackend` would throw, and loads nothing. */
export function checkBackend(name: string, options: BackendOptions = {}): void {
  if (name !== "scripted") settingsOf(toProvider(name), options);
}

/** The key of a backend, wherever it comes from: it must appear nowhere. */
export function secretsOf(name: string, options: BackendOptions = {}): readonly string[] {
  const { apiKey, env = process.env } = options;
  const key = (apiKey ?? (isProvider(name) ? env[providers[name].keyVariable] : undefined) ?? "").trim();
  return key === "" ? [] : [key];
}

function toProvider(name: string): ProviderName {
  if (isProvider(name)) return name;
  throw configuration(name, `there is no backend '${name}', only ${BACKENDS.join(", ")}`);
}

function settingsOf(name: ProviderName, options: BackendOptions) {
  return { apiKey: keyOf(name, options), baseUrl: baseUrlOf(name, options), limits: limitsOf(options) };
}

function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(providers, name);
}

function keyOf(name: ProviderName, { apiKey, env = process.env }: BackendOptions): string | null {
  const { keyVariable, needsKey } = providers[name];
  const key = (apiKey ?? env[keyVariable] ?? "").trim();
  if (key === "") {
    if (!needsKey) return null;
    throw configuration(name, `there is no key. Set ${keyVariable}`);
  }
  // For a header that it cannot send, Node shows its value in the error.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw configuration(name, `the key has characters that no key has. Set ${keyVariable} again`);
  }
  return key;
}

/** A host alone means its `/v1`, as some variables are written. */
export function baseUrlOf(name: string, { baseUrl, env = process.env }: BackendOptions): string {
  const known = isProvider(name) ? providers[name] : null;
  const text = (baseUrl ?? (known === null ? "" : env[known.urlVariable]) ?? "").trim() || (known?.baseUrl ?? "");
  if (text === "") throw configuration(name, "it needs the address of its server. Give --base-url or baseUrl");
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw configuration(name, "the address of its server is no URL with http or https");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw configuration(name, "the address of its server may not have a user, a password, a query or a fragment");
  }
  return url.pathname === "/" ? `${url.origin}/v1` : `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
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
