// The model of the examples: the one in the environment, else a scripted one, so that they run without a network and always
// print the same.
//
//   RLM_MODEL=gpt-5-mini OPENAI_API_KEY=... npm run example -- needle

import type { BackendRequest, LocalRLMOptions } from "rlm-runtime";
import { createScriptedBackend } from "rlm-runtime/testing";

export function chooseModel(play: (request: BackendRequest) => string): LocalRLMOptions {
  const { RLM_MODEL: model, RLM_BACKEND: backend, RLM_BASE_URL: baseUrl } = process.env;
  if (!model) return { model: "played", backend: createScriptedBackend(play), mode: "rlm", cache: false };
  const usual = model.startsWith("claude") ? "anthropic" : "openai";
  return { model, backend: backend ?? usual, mode: "rlm", ...(baseUrl && { baseUrl }) };
}

/** The first message of the conversation that asks, and how often it was answered already. */
export function whereIs({ messages }: BackendRequest): { readonly asked: string; readonly step: number } {
  return {
    asked: messages.find(({ role }) => role === "user")?.content ?? "",
    step: messages.filter(({ role }) => role === "assistant").length,
  };
}

export function block(code: string): string {
  return `\`\`\`repl\n${code}\n\`\`\``;
}
