// The first line about a variable of the context: its name, type and size, and what is in it, as far as there is space.

import type { ContextContents, ContextFacts } from "../../protocol/worker/context-facts.ts";
import { formatCount } from "../../util/text/format.ts";
import { shorten } from "../../util/text/shorten.ts";
import { onLine, quote, word } from "./quote.ts";

const MAX_KEY = 100;
const MAX_KEYS = 30;
const MAX_SHAPE = 320;
const MAX_ENDING = 20;

/** Name, type and size have no limit of their own; the rest has, with them, `maxCharacters`. `folder`: that the files are in. */
export function describeTitle(facts: ContextFacts, maxCharacters: number, folder?: string): string {
  const { name, type, length, contents, columns = [] } = facts;
  let title = `- \`${word(name)}\`: ${word(type)}`;
  if (length !== undefined) title += `, ${formatCount(length, unitOf(type))}`;
  const parts = [folder === undefined ? "" : `the files of the folder ${quote(shorten(folder, MAX_KEY))}`];
  if (contents !== undefined) parts.push(...describeContents(contents));
  for (const part of parts) if (part !== "" && title.length + part.length + 2 <= maxCharacters) title += `, ${part}`;
  return title + describeKeys(columns, length ?? columns.length, maxCharacters - title.length);
}

function describeContents({ kinds, endings, largest, shape = "", ...total }: ContextContents): readonly string[] {
  return [
    describeTotal(total),
    kinds.length > 1 ? kinds.map(({ what, count }) => `${formatCount(count)} ${word(what)}`).join(" and ") : "",
    endings.map(({ what, count }) => `${formatCount(count)} ${word(what, MAX_ENDING)}`).join(", "),
    largest === undefined ? "" : describeLargest(largest),
    onLine(shape, MAX_SHAPE),
  ];
}

function describeTotal({ characters, bytes, isWhole }: Omit<ContextContents, "kinds" | "endings">): string {
  const counts = [characters > 0 && formatCount(characters, "character"), bytes > 0 && formatCount(bytes, "byte")];
  const known = counts.filter((count) => count !== false).join(" and ");
  return known === "" ? "" : `${isWhole ? "" : "at least "}${known} in all`;
}

function describeLargest({ key, size }: NonNullable<ContextContents["largest"]>): string {
  return `the largest${key === undefined ? "" : ` ${quote(shorten(key, MAX_KEY))}`} has ${formatCount(size)}`;
}

/** As many as fit. `total`: how many there are, those that are not listed included. */
function describeKeys(keys: readonly string[], total: number, maxCharacters: number): string {
  let named = "";
  let count = 0;
  for (const key of keys.slice(0, MAX_KEYS)) {
    const longer = `${named === "" ? ", keys " : `${named}, `}${quote(shorten(key, MAX_KEY))}`;
    if (longer.length + REST_CHARACTERS > maxCharacters) break;
    named = longer;
    count += 1;
  }
  return count === 0 || count >= total ? named : `${named} and ${formatCount(total - count)} more`;
}

/** Space for the number of the keys that are not listed. */
const REST_CHARACTERS = 30;

function unitOf(type: string): string {
  return type === "str" ? "character" : type === "bytes" || type === "bytearray" ? "byte" : "item";
}
