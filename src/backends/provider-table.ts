// The providers that have a name: how each is spoken to, where it is, and where its key comes from.

/** How a provider is spoken to. The files are in `providers/protocols/`. */
export type ProtocolName = "responses" | "messages" | "gemini" | "chat" | "azure" | "mistral" | "openrouter" | "ollama";

export interface Provider {
  readonly protocol: ProtocolName;
  /** Where its key is looked up, in this order. A variable of its own for each, so that no key goes to another provider. */
  readonly keyVariables: readonly [string, ...string[]];
  readonly needsKey: boolean;
  /** Where its address is looked up, in this order. */
  readonly urlVariables: readonly [string, ...string[]];
  /** Null: it has to be given. */
  readonly baseUrl: string | null;
  /** The path that an address without one means, as some variables are written. */
  readonly rootPath: string;
  /** What the table of prices calls it. Absent: its address decides. */
  readonly pricedAs?: string;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: hosted("responses", "OPENAI", "https://api.openai.com/v1", "openai"),
  anthropic: hosted("messages", "ANTHROPIC", "https://api.anthropic.com/v1", "anthropic"),
  gemini: {
    protocol: "gemini",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    needsKey: true,
    urlVariables: ["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    rootPath: "/v1beta",
    pricedAs: "google",
  },
  azure: {
    protocol: "azure",
    keyVariables: ["AZURE_OPENAI_API_KEY"],
    needsKey: true,
    urlVariables: ["AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"],
    baseUrl: null,
    rootPath: "/openai/v1",
    pricedAs: "azure",
  },
  openrouter: hosted("openrouter", "OPENROUTER", "https://openrouter.ai/api/v1", "openrouter"),
  deepseek: hosted("chat", "DEEPSEEK", "https://api.deepseek.com/v1", "deepseek"),
  groq: hosted("chat", "GROQ", "https://api.groq.com/openai/v1", "groq"),
  mistral: hosted("mistral", "MISTRAL", "https://api.mistral.ai/v1", "mistral"),
  together: hosted("chat", "TOGETHER", "https://api.together.xyz/v1", "together"),
  xai: hosted("chat", "XAI", "https://api.x.ai/v1", "x-ai"),
  ollama: {
    protocol: "ollama",
    keyVariables: ["OLLAMA_API_KEY"],
    needsKey: false,
    urlVariables: ["OLLAMA_BASE_URL", "OLLAMA_HOST"],
    baseUrl: "http://127.0.0.1:11434",
    rootPath: "/",
  },
  "openai-compatible": {
    protocol: "chat",
    keyVariables: ["OPENAI_COMPATIBLE_API_KEY"],
    needsKey: false,
    urlVariables: ["OPENAI_COMPATIBLE_BASE_URL"],
    baseUrl: null,
    rootPath: "/v1",
  },
};

/** The names that `openBackend` knows. */
export const BACKENDS: readonly string[] = [...Object.keys(PROVIDERS), "scripted"];

/** The variables that hold keys of providers. */
export const KEY_VARIABLES: readonly string[] = Object.values(PROVIDERS).flatMap(({ keyVariables }) => keyVariables);

/** The variable that the key is taken from. Undefined: none of them is set. A blank one is not. */
export function keyVariableIn(
  { keyVariables }: Provider,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return keyVariables.find((variable) => (env[variable] ?? "").trim() !== "");
}

/** Undefined: no provider has this name. */
export function providerOf(name: string): Provider | undefined {
  return Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
}

/** The provider whose address a variable holds. Undefined: it holds no address that we know. */
export function providerOfUrlVariable(variable: string): Provider | undefined {
  return Object.values(PROVIDERS).find(({ urlVariables }) => urlVariables.includes(variable));
}

const FAMILIES: readonly (readonly [beginning: string, backend: string])[] = [
  ["claude", "anthropic"],
  ["gemini", "gemini"],
];

/** The provider of a model by how its name begins. Default: OpenAI. */
export function backendOfModel(model: string): string {
  return FAMILIES.find(([beginning]) => model.startsWith(beginning))?.[1] ?? "openai";
}

/** A provider with one address for everybody. */
function hosted(protocol: ProtocolName, prefix: string, baseUrl: string, pricedAs: string): Provider {
  return {
    protocol,
    keyVariables: [`${prefix}_API_KEY`],
    needsKey: true,
    urlVariables: [`${prefix}_BASE_URL`],
    baseUrl,
    rootPath: new URL(baseUrl).pathname,
    pricedAs,
  };
}
