// Whether a server read only a part of the prompt. Some cut prompts at their window without a word: the model then answers without its
// instructions, or without most of the text that it was asked about.
//
// The sign is a number of tokens that the prompt cannot have: a text has at least as many as it has words between spaces. Fewer than
// three quarters of that is an alarm. Prompts below 2,000 words, and servers that do not count, raise none.

import { BackendConnectionError } from "../../errors.ts";
import type { ReportedUsage } from "../../protocol/usage.ts";
import type { ChatMessage } from "../backend.ts";
import { WordCount } from "../estimate-tokens.ts";

const LEAST_WORDS = 2_000;
const SHARE = 0.75;

/** The least number of tokens that the messages can have. */
export function leastTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + new WordCount().add(content).words, 0);
}

/** How many tokens of the prompt were read, where it was cut. Null: there is no sign of that. */
export function cutAt(messages: readonly ChatMessage[], usage: ReportedUsage | null): number | null {
  if (usage === null) return null;
  // Some servers do not count what they had in their cache.
  const read = usage.inputTokens + usage.cacheReadTokens;
  const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
  const mostWords = (characters + messages.length) / 2;
  if (read === 0 || mostWords < LEAST_WORDS || read >= mostWords * SHARE) return null;
  const words = leastTokens(messages);
  return words >= LEAST_WORDS && read < words * SHARE ? read : null;
}

export function toCutPrompt(backend: string, read: number, words: number): BackendConnectionError {
  const why = `the server read only ${read} tokens of a prompt of ${words} words or more: it cuts prompts at its window. Give it a larger window (for Ollama: backend 'ollama', or OLLAMA_CONTEXT_LENGTH)`;
  return new BackendConnectionError({ backend, fault: "context-too-long", why, retryable: false });
}
