// What model objects of the AI SDK take beside the common settings: options under a name that each package chose itself.

import type { BackendRequest } from "../backend.ts";
import type { JSONValue, ProviderOptions } from "./language-model.ts";
import { toCacheEnds } from "./protocols/cache-marks.ts";
import { toThinkingConfig } from "./protocols/gemini-thinking.ts";
import type { Fields } from "./protocols/wire-protocol.ts";

interface Package {
  /** For the name of a provider, as objects of the package have it. */
  readonly isMeant: (provider: string) => boolean;
  /** The name under which the package reads its options, in all versions. Absent: the first word of the provider's name. */
  readonly name?: string;
  readonly toEffort?: (effort: string, modelId: string) => Fields;
  /** After what is marked, the prompt cache may end. Null: this model has none, or finds out itself. */
  readonly toMark?: (modelId: string) => Fields | null;
}

/** Claude's older models on Bedrock have no cache. */
const BEDROCK_CACHES = /nova|claude-(?!v2|instant|3-(opus|sonnet|haiku)|3-5-sonnet-20240620)/;

/** The first match counts. Claude is the same on Bedrock, Vertex AI and Anthropic itself. */
const PACKAGES: readonly Package[] = [
  {
    isMeant: (provider) => provider.includes("anthropic"),
    name: "anthropic",
    toEffort: (effort) => ({ effort }),
    toMark: () => ({ cacheControl: { type: "ephemeral" } }),
  },
  {
    isMeant: (provider) => /^(amazon-)?bedrock$/.test(provider),
    name: "bedrock",
    toEffort: (effort) => ({ reasoningConfig: { maxReasoningEffort: effort } }),
    toMark: (modelId) => (BEDROCK_CACHES.test(modelId) ? { cachePoint: { type: "default" } } : null),
  },
  {
    isMeant: (provider) => provider.startsWith("google."),
    name: "google",
    toEffort: (effort, modelId) => {
      const thinkingConfig = toThinkingConfig(modelId, effort);
      return thinkingConfig === null ? {} : { thinkingConfig };
    },
  },
  { isMeant: (provider) => /^azure(-openai)?\b/.test(provider), name: "openai" },
  {
    isMeant: (provider) => provider.startsWith("openrouter"),
    name: "openrouter",
    toEffort: (effort) => ({ reasoning: { effort } }),
    toMark: (modelId) => (modelId.startsWith("anthropic/") ? { cacheControl: { type: "ephemeral" } } : null),
  },
];
const OTHER: Package = { isMeant: () => true };

export interface ObjectName {
  readonly provider: string;
  readonly modelId: string;
}

/** Of a whole call. The extra body wins. Undefined: there are none. */
export function toCallOptions(
  { provider, modelId }: ObjectName,
  { reasoningEffort, extraBody = {} }: BackendRequest,
): ProviderOptions | undefined {
  const { name = firstWord(provider), toEffort = (effort) => ({ reasoningEffort: effort }) } = packageOf(provider);
  const effort = reasoningEffort === undefined ? {} : toEffort(reasoningEffort, modelId);
  const options = { ...effort, ...extraBody };
  return Object.keys(options).length === 0 ? undefined : { [name]: toJSON(options) };
}

/** Of each message. Undefined: it has none. */
export function toMessageOptions(
  { provider, modelId }: ObjectName,
  request: BackendRequest,
): readonly (ProviderOptions | undefined)[] {
  const { name = firstWord(provider), toMark } = packageOf(provider);
  const mark = toMark?.(modelId) ?? null;
  const cacheEnds = mark === null ? [] : toCacheEnds(request);
  return request.messages.map((_, index) =>
    mark !== null && cacheEnds.includes(index) ? { [name]: toJSON(mark) } : undefined,
  );
}

function packageOf(provider: string): Package {
  return PACKAGES.find(({ isMeant }) => isMeant(provider)) ?? OTHER;
}

function firstWord(provider: string): string {
  return provider.split(".")[0] ?? provider;
}

/** A copy as the wire would have it, which the object may keep and change. */
function toJSON(fields: Fields): Record<string, JSONValue> {
  return JSON.parse(JSON.stringify(fields)) as Record<string, JSONValue>;
}
