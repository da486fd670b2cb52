// The description of the context variables for the model: names, types, sizes, and how each begins and ends.
//
// Previews are quoted as JSON, so that text of the context stays inside its quotes and on its line.

import type { ContextFacts } from "../../protocol/worker/context-facts.ts";
import { formatCount } from "../../util/text/format.ts";
import { describeTitle } from "./describe-title.ts";
import { quote } from "./quote.ts";

/** For one variable. */
const MAX_TITLE = 1_500;
const MAX_PREVIEW = 1_000;
const MIN_PREVIEW = 40;
const TITLE_SHARE = 0.6;
const HEAD_SHARE = 0.6;
/** Space for the line that counts the variables that are not described. */
const REST_CHARACTERS = 80;

/**
 * A line for each variable, with previews below it while there is space. `maxCharacters`: of all lines together, at least 500. `folders`:
 * those that the files of variables are in, by their names.
 */
export function describeContext(
  variables: readonly ContextFacts[],
  maxCharacters: number,
  folders: ReadonlyMap<string, string> = new Map(),
): string {
  const lines: string[] = [];
  let left = maxCharacters - REST_CHARACTERS;
  for (const [index, facts] of variables.entries()) {
    const share = Math.floor(left / (variables.length - index));
    const titleCharacters = Math.min(MAX_TITLE, Math.floor(TITLE_SHARE * share));
    const title = describeTitle(facts, titleCharacters, folders.get(facts.name));
    if (title.length + 1 > left) {
      lines.push(`… and ${formatCount(variables.length - index)} more variables; SHOW_VARS() lists them`);
      break;
    }
    const described = [title, ...toPreview(facts, Math.min(MAX_PREVIEW, share - title.length - 1))];
    lines.push(...described);
    left -= described.reduce((sum, line) => sum + line.length + 1, 0);
  }
  return lines.join("\n");
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
