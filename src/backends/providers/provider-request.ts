// Our request in the words of the provider packages.

import type { BackendRequest, ChatMessage } from "../backend.ts";
import type { CallOptions, ProviderName } from "./provider-models.ts";

/** The least that OpenAI accepts. */
const LEAST_OUTPUT_TOKENS = 16;

type Prompt = CallOptions["prompt"];
type Message = Prompt[number];

/** Settings that some models refuse; which ones is learned from their answers. */
export type Refusable = "temperature" | "schema" | "effort";

export function toCallOptions(
  provider: ProviderName,
  request: BackendRequest,
  refused: ReadonlySet<Refusable>,
): CallOptions {
  const { maxTokens, temperature, schema, reasoningEffort } = request;
  const usesSchema = schema !== undefined && !refused.has("schema");
  const effort = refused.has("effort") ? undefined : reasoningEffort;
  return {
    prompt: toPrompt(provider, request),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: leastTokens(provider, maxTokens) }),
    ...(temperature === undefined || refused.has("temperature") ? {} : { temperature }),
    ...(usesSchema ? { responseFormat: { type: "json", schema } } : {}),
    ...providerOptions(provider, usesSchema ? schema : undefined, effort),
  };
}

/** Marks where a cache may end: after the system's messages, which nodes share, and after what comes again in the next turn. */
function toPrompt(provider: ProviderName, { messages, stableMessages }: BackendRequest): Prompt {
  const systemEnd = messages.findIndex(({ role }) => role !== "system");
  const marked = provider === "anthropic" ? [systemEnd === -1 ? messages.length : systemEnd, stableMessages ?? 0] : [];
  return messages.map((message, index) => toMessage(message, marked.includes(index + 1)));
}

function toMessage({ role, content }: ChatMessage, isMarked: boolean): Message {
  const mark = isMarked ? { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } } : {};
  if (role === "system") return { role, content, ...mark };
  return { role, content: [{ type: "text", text: content }], ...mark };
}

function providerOptions(
  provider: ProviderName,
  schema: Readonly<Record<string, unknown>> | undefined,
  effort: string | undefined,
): Pick<CallOptions, "providerOptions"> {
  const strict = schema === undefined ? {} : { strictJsonSchema: isStrict(schema) };
  const reasoningEffort = effort === undefined ? {} : { reasoningEffort: effort };
  switch (provider) {
    case "openai": // nothing of a run is kept by the provider for later calls to refer to
      return { providerOptions: { openai: { store: false, ...strict, ...reasoningEffort } } };
    case "anthropic":
      return effort === undefined ? {} : { providerOptions: { anthropic: { effort } } };
    case "openai-compatible":
      return { providerOptions: { openaiCompatible: { ...strict, ...reasoningEffort } } };
  }
}

/** OpenAI enforces a schema only where every object is closed and every property required, and refuses to try otherwise. */
function isStrict(schema: unknown, depth = 0): boolean {
  if (depth > 32) return false;
  if (Array.isArray(schema)) return schema.every((item) => isStrict(item, depth + 1));
  if (typeof schema !== "object" || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as Readonly<Record<string, unknown>>;
  if (type === "object" || properties !== undefined) {
    const names = Object.keys(properties ?? {});
    const isClosed = additionalProperties === false && Array.isArray(required);
    if (!isClosed || !names.every((name) => required.includes(name))) return false;
  }
  return Object.values(schema).every((value) => isStrict(value, depth + 1));
}

function leastTokens(provider: ProviderName, maxTokens: number): number {
  return provider === "openai" ? Math.max(LEAST_OUTPUT_TOKENS, maxTokens) : maxTokens;
}
