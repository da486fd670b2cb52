// Facts that the table of prices does not have, by families of models.
//
// The list is short on purpose. A limit on output is named where a request would otherwise be refused: where the model writes less than
// a call usually asks for, or where the protocol demands a number. Everything else is learned from the provider.

import type { ModelFacts } from "../backend.ts";

type Family = readonly [pattern: RegExp, facts: ModelFacts];

/** For the name without the maker before its last slash. The first match counts. */
const FAMILIES: readonly Family[] = [
  [/^gpt-3\.5/, { maxOutputTokens: 4_096 }],
  [/^gpt-4-(turbo|\d{4}-preview|vision)/, { maxOutputTokens: 4_096 }],
  [/^gpt-4(-\d{4})?$/, { maxOutputTokens: 8_192 }],
  [/^gpt-4o-2024-05-13/, { maxOutputTokens: 4_096 }],
  [/^(chatgpt-4o|gpt-4o|gpt-\d+(\.\d+)?-chat)/, { maxOutputTokens: 16_384 }],
  [/^(o\d|gpt-([5-9]|\d\d)|gpt-oss)/, { reasons: true }],
  [/claude-(v\d|2|instant)/, { maxOutputTokens: 4_096 }],
  [/claude-3-(opus|sonnet|haiku)/, { maxOutputTokens: 4_096 }],
  [/claude-3[-.]5/, { maxOutputTokens: 8_192 }],
  [/claude-(opus-4|4-opus)([-.][01]\b|-20250514|@|$)/, { maxOutputTokens: 32_000 }],
  [/claude-(3[-.]7|(sonnet|haiku|opus)-4|4-sonnet)/, { maxOutputTokens: 64_000 }],
  [/^deepseek-chat/, { maxOutputTokens: 8_192 }],
  // The table does not have their windows.
  [/^gemini-(1\.5|2\.0)/, { maxOutputTokens: 8_192, contextWindow: 1_048_576 }],
  [/^gemini-(2\.5|[3-9])/, { reasons: true, contextWindow: 1_048_576 }],
  [/^(deepseek-(reasoner|r1)|qwq|grok-(3-mini|4)|magistral)|thinking|reasoning/, { reasons: true }],
];

export function factsOfFamily(model: string): ModelFacts {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? {};
}
