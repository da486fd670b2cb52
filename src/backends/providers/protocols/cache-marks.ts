// Which part of a prompt comes again, so that a provider can cache it.

import { createHash } from "node:crypto";
import type { BackendRequest, ChatMessage } from "../../backend.ts";

/** The system messages and the question: what a conversation never changes. */
const FIRST_MESSAGES = 2;

/** Indexes of the messages after which the prompt cache may end: the last system message, and the last that later requests repeat. */
export function toCacheEnds({ messages, stableMessages = 0 }: BackendRequest): readonly number[] {
  return [countSystem(messages) - 1, stableMessages - 1];
}

/** The number of system messages at the beginning. */
export function countSystem(messages: readonly ChatMessage[]): number {
  const first = messages.findIndex(({ role }) => role !== "system");
  return first === -1 ? messages.length : first;
}

/**
 * The same for all requests of one conversation, so that they reach the machine that has the beginning in its cache. It says nothing
 * of the messages. Undefined: no later request repeats them.
 */
export function toCacheKey({ messages, stableMessages = 0 }: BackendRequest): string | undefined {
  if (stableMessages === 0) return undefined;
  const beginning = messages
    .slice(0, Math.min(stableMessages, FIRST_MESSAGES))
    .map(({ role, content }) => [role, content]);
  return createHash("sha256").update(JSON.stringify(beginning)).digest("hex").slice(0, 32);
}
