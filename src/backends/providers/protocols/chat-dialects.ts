// Providers whose Chat Completions differ in a few fields.

import type { BackendRequest } from "../../backend.ts";
import { toCacheEnds, toCacheKey } from "./cache-marks.ts";
import { openaiChat } from "./openai-chat.ts";
import { toSegment, type Fields, type WireProtocol } from "./wire-protocol.ts";

/** The deployment is part of the path, except in the form `/openai/v1`. Its name is that of the model. */
export const azureChat: WireProtocol = {
  ...openaiChat,
  path: (model, basePath) => {
    const isComplete = basePath.endsWith("/v1") || basePath.includes("/deployments/");
    return `${isComplete ? "" : `/deployments/${toSegment(model)}`}/chat/completions`;
  },
  headers: (apiKey) => (apiKey === null ? {} : { "api-key": apiKey }),
};

/** It reports usage unasked, refuses fields that it does not know, and caches only what has a key. */
export const mistralChat: WireProtocol = {
  ...openaiChat,
  toBody: (request) => {
    const { seed, ...body } = openaiChat.toBody({ ...request, reportsUsage: false });
    const key = toCacheKey(request);
    return {
      ...body,
      ...(seed !== undefined && { random_seed: seed }),
      ...(key !== undefined && { prompt_cache_key: key }),
    };
  },
};

/** Models of Anthropic are cached only where a request is marked. */
export const openrouterChat: WireProtocol = {
  ...openaiChat,
  toBody: (request) => {
    const { reasoning_effort: effort, ...body } = openaiChat.toBody(request);
    return {
      ...body,
      ...(request.model.startsWith("anthropic/") && { messages: toMarkedMessages(request) }),
      ...(effort !== undefined && { reasoning: { effort } }),
    };
  },
};

function toMarkedMessages(request: BackendRequest): readonly Fields[] {
  const cacheEnds = toCacheEnds(request);
  return request.messages.map(({ role, content }, index) => {
    if (!cacheEnds.includes(index)) return { role, content };
    return { role, content: [{ type: "text", text: content, cache_control: { type: "ephemeral" } }] };
  });
}
