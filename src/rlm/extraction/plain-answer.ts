// The answer in a last reply. No code can be run any more, so code is no answer.
//
// Models that are used to blocks go on with them: a block, or a FINAL(...), that gives a plain value is read. What would have to be run is
// not, unless the code itself may be what was asked for.

import type { ChatMessage } from "../../backends/backend.ts";
import { splitBlocks, type FencedBlock } from "../../util/markdown/fenced-blocks.ts";
import { isRunnableTag } from "../reply/block-tags.ts";
import { findFinal } from "../reply/final-call.ts";
import { findToolCall } from "../reply/tool-call/tool-call.ts";
import { parsePythonString } from "../reply/python-string.ts";

/** Code for a session of ours, and no example of code. */
const FOR_SESSION = /\b(?:FINAL(?:_VAR)?|SUBMIT|SHOW_VARS|(?:llm|rlm|map|reduce)_query\w*)\s*\(|\bcontext\b/;
const NAME = /^[\p{L}_][\p{L}\p{N}_]*(?=$|\.\p{L}|[([]|\s*[-+*/%<>=])/u;
const PREFIXED_STRING = /^[fbr]{1,2}["']/i;

/** `messages`: the conversation, which tells the names of variables. Undefined: the reply is code. Empty: there is nothing. */
export function toPlainAnswer(reply: string, messages: readonly ChatMessage[]): string | undefined {
  const final = findFinal(reply);
  if (final.kind === "value") return toValue(final.text, messages);
  if (final.kind !== "none" || findToolCall(reply) !== undefined) return undefined;
  const { blocks, outside } = splitBlocks(reply);
  const code = blocks.filter(({ tag }) => isRunnableTag(tag));
  const [given] = code.flatMap((block) => toGiven(block, messages) ?? []);
  if (given !== undefined) return given;
  // What stands beside code for a session most often announces it.
  const isCode = code.length > 0 && (outside === "" || code.some(isForSession));
  return isCode ? undefined : reply.trim();
}

/** The plain value that a block consists of. */
function toGiven({ text }: FencedBlock, messages: readonly ChatMessage[]): string | undefined {
  const final = /^\s*FINAL\([^]*\)\s*$/.test(text) ? findFinal(text) : undefined;
  return final?.kind === "value" ? toValue(final.text, messages) : undefined;
}

function isForSession({ tag, text }: FencedBlock): boolean {
  return tag === "repl" || tag === "tool_code" || FOR_SESSION.test(text);
}

/** What FINAL(...) holds. Undefined: it would have to be evaluated. */
function toValue(source: string, messages: readonly ChatMessage[]): string | undefined {
  const text = parsePythonString(source);
  if (text !== undefined || PREFIXED_STRING.test(source)) return text;
  const [name] = NAME.exec(source) ?? [];
  if (name === undefined) return source;
  const isEvaluated = /^[([]/.test(source.slice(name.length)) || isKnown(name, messages);
  return isEvaluated ? undefined : source;
}

/** Whether the model wrote of it before: a word of its code may be a variable. */
function isKnown(name: string, messages: readonly ChatMessage[]): boolean {
  const word = new RegExp(`(?<![\\p{L}\\p{N}_])${name}(?![\\p{L}\\p{N}_])`, "u");
  return messages.some(({ role, content }) => role === "assistant" && word.test(content));
}
