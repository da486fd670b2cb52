// Opens a provider by its protocol. Each protocol is loaded on first use.

import type { Backend } from "../backend.ts";
import type { ProtocolName } from "../provider-table.ts";
import type { WireProtocol } from "./protocols/wire-protocol.ts";
import { ProviderBackend, type ProviderSettings } from "./provider-backend.ts";

export interface OpenProviderOptions extends ProviderSettings {
  readonly protocol: ProtocolName;
}

const protocols: Readonly<Record<Exclude<ProtocolName, "ollama">, () => Promise<WireProtocol>>> = {
  responses: async () => (await import("./protocols/openai-responses.ts")).openaiResponses,
  messages: async () => (await import("./protocols/anthropic-messages.ts")).anthropicMessages,
  gemini: async () => (await import("./protocols/gemini.ts")).gemini,
  chat: async () => (await import("./protocols/openai-chat.ts")).openaiChat,
  azure: async () => (await import("./protocols/chat-dialects.ts")).azureChat,
  mistral: async () => (await import("./protocols/chat-dialects.ts")).mistralChat,
  openrouter: async () => (await import("./protocols/chat-dialects.ts")).openrouterChat,
};

/** Makes no request. */
export async function openProvider({ protocol, ...settings }: OpenProviderOptions): Promise<Backend> {
  if (protocol !== "ollama") return new ProviderBackend(await protocols[protocol](), settings);
  const { OllamaBackend } = await import("./ollama/ollama-backend.ts");
  return new OllamaBackend(settings);
}
