// The messages of a node's last call, which asks for the best answer at a limit.
//
// The whole conversation where it fits; else the question and as much of the transcript as is affordable, down to the question
// alone: an answer that says how little is known is better than none.

import type { ChatMessage } from "../../backends/backend.ts";
import type { JSONSchema } from "../reply/answer-schema.ts";
import { cutOutput } from "../session/cut-output.ts";
import type { Strategy } from "../../protocol/strategy/strategy.ts";
import { extractMessage } from "../strategy/prompts.ts";

export interface ExtractionInput {
  readonly strategy: Strategy;
  readonly query: string;
  readonly schema: JSONSchema | undefined;
  readonly messages: readonly ChatMessage[];
}

/** Of the transcript, in characters. */
const SIZES = [60_000, 20_000, 6_000, 2_000, 600];
const MAX_QUERY = 4_000;
const SHORT_QUERY = 600;

/** From the most complete to the shortest. */
export function* extractions(input: ExtractionInput, why: string): Generator<readonly ChatMessage[]> {
  const { strategy, query, messages, schema } = input;
  const end = extractMessage(strategy, why, schema);
  if (messages.length > 0) yield [...messages, { role: "user", content: end }];
  const seen = toTranscript(messages);
  for (const size of SIZES.filter(
    (limit, index) => seen !== "" && (seen.length > limit || index === SIZES.length - 1),
  )) {
    const part = cutOutput(seen, { maxCharacters: size, name: "", where: "there is no room for it" }).text;
    yield [toMessage(end, cut(query, MAX_QUERY), `What was seen so far:\n${part}`)];
  }
  yield [toMessage(end, cut(query, SHORT_QUERY))];
}

/** The size of the shortest one, which is kept for finishing from the beginning. */
export function shortestExtraction(input: Omit<ExtractionInput, "messages">): readonly ChatMessage[] {
  const { strategy, query, schema } = input;
  const end = extractMessage(strategy, "the limit of tokens is reached".padEnd(150), schema);
  return [toMessage(end, cut(query, SHORT_QUERY), " ".repeat(SIZES.at(-1) ?? 0))];
}

function toMessage(end: string, query: string, seen = "Nothing was seen so far."): ChatMessage {
  return { role: "user", content: `Question: ${query}\n\n${seen}\n\n${end}` };
}

/** Without the first two, the system prompt and the question. */
function toTranscript(messages: readonly ChatMessage[]): string {
  return messages
    .slice(2)
    .map(({ role, content }) => (role === "assistant" ? `You wrote:\n${content}` : content))
    .join("\n\n");
}

function cut(text: string, maxCharacters: number): string {
  return cutOutput(text, { maxCharacters, name: "", where: "there is no room for it" }).text;
}
