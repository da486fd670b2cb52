// The description of the context variables for the model: names, types, sizes, and how each begins and ends.
//
// Previews are quoted as JSON, so that text of the context stays inside its quotes and on its line.

import type { ContextFacts } from "../../protocol/worker/context-facts.ts";
import { formatCount } from "../../util/text/format.ts";
import { shorten } from "../../util/text/shorten.ts";

/** For one variable. */
const MAX_PREVIEW = 1_000;
const MIN_PREVIEW = 40;
const MAX_WORD = 100;
const MAX_KEYS = 30;
const HEAD_SHARE = 0.6;
/** Space for the line that counts the variables that are not described. */
const REST_CHARACTERS = 80;

/** A line for each variable, with previews below it while there is space. `maxCharacters`: of all lines together, at least 500. */
export function describeContext(variables: readonly ContextFacts[], maxCharacters: number): string {
  const lines: string[] = [];
  let left = maxCharacters - REST_CHARACTERS;
  for (const [index, facts] of variables.entries()) {
    const title = toTitle(facts);
    if (title.length + 1 > left) {
      lines.push(`… and ${formatCount(variables.length - index)} more variables; SHOW_VARS() lists them`);
      break;
    }
    const share = Math.floor(left / (variables.length - index)) - title.length - 1;
    const described = [title, ...toPreview(facts, Math.min(MAX_PREVIEW, share))];
    lines.push(...described);
    left -= described.reduce((sum, line) => sum + line.length + 1, 0);
  }
  return lines.join("\n");
}

function toTitle({ name, type, length, columns = [] }: ContextFacts): string {
  const parts = [word(type)];
  if (length !== undefined) parts.push(formatCount(length, unitOf(type)));
  if (columns.length > 0) parts.push(toKeys(columns, length));
  return `- \`${word(name)}\`: ${parts.join(", ")}`;
}

/** `total`: how many keys there are, those that are not listed included. */
function toKeys(keys: readonly string[], total = keys.length): string {
  const named = keys.slice(0, MAX_KEYS).map((key) => quote(shorten(key, MAX_WORD)));
  const rest = total - named.length;
  return `keys ${named.join(", ")}${rest > 0 ? ` and ${formatCount(rest)} more` : ""}`;
}

/** Empty where there is too little space. */
function toPreview({ head = "", tail, isWhole = false }: ContextFacts, maxCharacters: number): string[] {
  if (head === "" || maxCharacters < MIN_PREVIEW) return [];
  const whole = `  is ${quote(head)}`;
  if (isWhole && whole.length + 1 <= maxCharacters) return [whole];
  const [before, after] = ["  begins ", "  ends "];
  const end = isWhole ? head : tail;
  if (end === undefined) return [before + quoteWithin(head, maxCharacters - before.length - 1, "head")];
  const left = maxCharacters - before.length - after.length - 2;
  const headLength = Math.floor(left * HEAD_SHARE);
  return [before + quoteWithin(head, headLength, "head"), after + quoteWithin(end, left - headLength, "tail")];
}

/** As much of a beginning or an end as fits in quotes. */
function quoteWithin(text: string, maxCharacters: number, end: "head" | "tail"): string {
  const characters = Array.from(end === "head" ? text.slice(0, maxCharacters) : text.slice(-maxCharacters));
  const take = (length: number): string =>
    (end === "head" ? characters.slice(0, length) : characters.slice(characters.length - length)).join("");
  let [fits, tooMuch] = [0, characters.length + 1];
  while (tooMuch - fits > 1) {
    const middle = Math.floor((fits + tooMuch) / 2);
    if (quote(take(middle)).length <= maxCharacters) fits = middle;
    else tooMuch = middle;
  }
  return quote(take(fits));
}

/** On one line for every definition of a line end. A lone surrogate is escaped. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/[\u007F-\u009F\u2028\u2029]/g, toEscape);
}

function toEscape(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

/** A name or a type, without control characters, spaces and backticks. */
function word(text: string): string {
  return shorten(text.replaceAll(/[\p{C}\p{Z}`]/gu, ""), MAX_WORD);
}

function unitOf(type: string): string {
  return type === "str" ? "character" : type === "bytes" || type === "bytearray" ? "byte" : "item";
}
