// FINAL(...) and SUBMIT(...) in the text of a message, for models that do not call them in code.
//
// Read only where a message has no code, since the output of code may still change the answer. They must be at the beginning of a line,
// outside of blocks, with balanced brackets and nothing after them. A near miss is no answer; a hint says what is missing.

import { linesOutsideFences } from "../../util/markdown/fence-line.ts";

export type TextFinal =
  /** `text` is verbatim, quotes included. */
  | { readonly kind: "value"; readonly text: string }
  | { readonly kind: "variable"; readonly name: string }
  /** SUBMIT(...), which is always code. */
  | { readonly kind: "fields"; readonly code: string }
  /** `hint`: what the model is shown; null where it did not attempt an answer. */
  | { readonly kind: "none"; readonly hint: string | null };

const START = /^[ \t]*(FINAL_VAR|FINAL|SUBMIT)\(/;
const MENTION = /\b(?:FINAL(?:_VAR)?|SUBMIT)[ \t]*\(/;
/** May follow the closing bracket. */
const END_OF_LINE = /^[ \t\r]*[.;]?[ \t\r]*(?:<\|[a-z_]+\|>|<\/s>|<end_of_turn>)*[ \t\r]*(?:\n|$)/;
const QUOTED = /^(['"])(.*)\1$/s;
const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;
/** Each may be read up to the end. */
const MAX_STARTS = 20;

export function findFinal(message: string): TextFinal {
  const found: { readonly what: string; readonly inside: string | undefined }[] = [];
  let isMentioned = false;
  let after = 0;
  for (const { line, start } of linesOutsideFences(message)) {
    if (start < after || found.length >= MAX_STARTS) continue;
    const [opening, what = ""] = START.exec(line) ?? [];
    if (opening === undefined) {
      isMentioned ||= MENTION.test(line);
      continue;
    }
    const from = start + opening.length;
    const to = closingBracket(message, from);
    found.push({ what, inside: to === undefined ? undefined : message.slice(from, to).trim() });
    after = to ?? 0;
  }
  const whole = found.flatMap(({ what, inside }) => (inside === undefined ? [] : [{ what, inside }]));
  const variable = whole.find(({ what }) => what === "FINAL_VAR");
  if (variable !== undefined) return toVariable(variable.inside);
  const value = whole.find(({ inside }) => inside !== "");
  if (value?.what === "SUBMIT") return { kind: "fields", code: `SUBMIT(${value.inside})` };
  if (value !== undefined) return { kind: "value", text: value.inside };
  return { kind: "none", hint: toHint(found.length > 0, whole.length > 0, isMentioned) };
}

function toVariable(inside: string): TextFinal {
  const name = QUOTED.exec(inside)?.[2]?.trim() ?? inside;
  if (NAME.test(name)) return { kind: "variable", name };
  return { kind: "none", hint: "FINAL_VAR takes the name of one variable. For anything else write FINAL(...)" };
}

function toHint(isStarted: boolean, isEmpty: boolean, isMentioned: boolean): string | null {
  if (isEmpty) return "FINAL() is empty: write the answer between its brackets";
  if (isStarted)
    return "FINAL(...) was not read: its brackets are not balanced, or something follows them on the line. Write FINAL(answer) in a block of code";
  if (isMentioned)
    return "FINAL(...) was not read: it must be at the beginning of a line, with no space before its bracket";
  return null;
}

/** The bracket that matches the one before `from`, if nothing follows it on its line. */
function closingBracket(text: string, from: number): number | undefined {
  const strings = new Strings(text);
  let depth = 1;
  for (let index = from; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"' || character === "'") index = strings.endOf(index);
    else if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (depth === 0) return END_OF_LINE.test(text.slice(index + 1, index + 100)) ? index : undefined;
  }
  return undefined;
}

class Strings {
  readonly #text: string;
  /** By closing quotes, up to where there are none: a quote that closes nothing is looked for once. */
  readonly #noneBefore = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The last character of the string that begins here; `from` itself where the quote begins none, such as an apostrophe. */
  endOf(from: number): number {
    const text = this.#text;
    const quote = text.charAt(from);
    if (/[\p{L}\p{N}]/u.test(text.charAt(from - 1))) return from;
    const triple = quote.repeat(3);
    const closing = text.startsWith(triple, from) ? triple : quote;
    if (from < (this.#noneBefore.get(closing) ?? 0)) return from;
    const lineEnd = text.indexOf("\n", from);
    const limit = closing === triple || lineEnd < 0 ? text.length : lineEnd;
    for (let index = from + closing.length; index < limit; index += 1) {
      if (text[index] === "\\") index += 1;
      else if (text.startsWith(closing, index)) return index + closing.length - 1;
    }
    this.#noneBefore.set(closing, limit);
    return from;
  }
}
