// The provider packages of the AI SDK, each loaded when it is first needed.
//
// They know how each provider and model wants to be asked: `openai` by the Responses API, `anthropic` by Messages,
// `openai-compatible` by Chat Completions. Nothing else of the SDK is used: its retries, for one, would hide what was spent.

import type { OpenAIProvider } from "@ai-sdk/openai";

export type ProviderName = "openai" | "anthropic" | "openai-compatible";

/** What all the packages offer for a model. */
export type LanguageModel = ReturnType<OpenAIProvider["languageModel"]>;
export type CallOptions = Parameters<LanguageModel["doStream"]>[0];
export interface ProviderAccess {
  /** Null: none is sent, which only `openai-compatible` allows. */
  readonly apiKey: string | null;
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
}

export async function loadModel(provider: ProviderName, model: string, access: ProviderAccess): Promise<LanguageModel> {
  const { baseUrl: baseURL, fetch } = access;
  const apiKey = access.apiKey ?? "";
  switch (provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ baseURL, apiKey, fetch }).responses(model);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ baseURL, apiKey, fetch }).languageModel(model);
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const key = apiKey === "" ? {} : { apiKey };
      const settings = { name: "compatible", includeUsage: true, supportsStructuredOutputs: true };
      return createOpenAICompatible({ baseURL, fetch, ...key, ...settings }).chatModel(model);
    }
  }
}
