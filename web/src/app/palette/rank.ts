// What the palette lists for a query, best first, in groups.

import { match, type Match } from "./match.ts";

/** Something that can be picked: a command, or a place to go. */
export interface Entry {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  /** Found as well, but not shown. */
  readonly words?: string | undefined;
}

export interface Ranked<Of extends Entry> {
  readonly entry: Of;
  readonly marks: Match["marks"];
}

const MAX_SHOWN = 60;
/** A recent entry comes before others that fit about as well. */
const RECENT_BONUS = 12;

/** Without a query: recent ones first, then in their order. `recent` has ids, the latest first. */
export function rank<Of extends Entry>(query: string, entries: readonly Of[], recent: readonly string[]): Ranked<Of>[] {
  const fitting = entries.flatMap((entry, order) => {
    const inTitle = match(query, entry.title);
    const found = inTitle ?? match(query, `${entry.title} ${entry.group} ${entry.words ?? ""}`);
    if (found === undefined) return [];
    const place = recent.indexOf(entry.id);
    const bonus = place < 0 ? 0 : RECENT_BONUS - place;
    const score = found.score + (inTitle === undefined ? -30 : 0) + Math.max(0, bonus);
    return [{ entry, marks: inTitle?.marks ?? [], score: query.trim() === "" ? Math.max(0, bonus) : score, order }];
  });
  fitting.sort((a, b) => b.score - a.score || a.order - b.order);
  return fitting.slice(0, MAX_SHOWN).map(({ entry, marks }) => ({ entry, marks }));
}
