// Parts of lists. The cursor is the position of the last item, so it stays valid when that item is gone.

import { checkCount } from "../util/check-number.ts";
import type { Page } from "../api/page.ts";

/** A number that grows with time, then what tells apart items with the same number. */
export type Position = readonly [number: number, tie: string];

interface PageRequest<Item> {
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  readonly positionOf: (item: Item) => Position;
  /** Default: ascending positions. */
  readonly isDescending?: boolean;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** `items` in any order. Throws a RangeError for a limit or a cursor that is none. */
export function toPage<Item>(
  items: readonly Item[],
  { limit = DEFAULT_LIMIT, after, positionOf, isDescending = false }: PageRequest<Item>,
): Page<Item> {
  checkCount("limit", limit, 1);
  if (limit > MAX_LIMIT) throw new RangeError(`Cannot use ${limit} as limit: it must be at most ${MAX_LIMIT}`);
  const sign = isDescending ? -1 : 1;
  const from = after === undefined ? undefined : parseCursor(after);
  const rest = items
    .map((item) => ({ item, position: positionOf(item) }))
    .filter(({ position }) => from === undefined || sign * compare(position, from) > 0)
    .toSorted((a, b) => sign * compare(a.position, b.position));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(({ item }) => item),
    next: last === undefined || rest.length === page.length ? null : toCursor(last.position),
  };
}

function compare([number, tie]: Position, [otherNumber, otherTie]: Position): number {
  if (number !== otherNumber) return number - otherNumber;
  return tie === otherTie ? 0 : tie < otherTie ? -1 : 1;
}

function toCursor(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

function parseCursor(text: string): Position {
  try {
    const position = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown;
    const [number, tie, ...more] = Array.isArray(position) ? (position as unknown[]) : [];
    if (typeof number === "number" && typeof tie === "string" && more.length === 0) return [number, tie];
  } catch {
    // It is no cursor.
  }
  throw new RangeError(`Cannot continue after '${text.slice(0, 100)}': it is no \`next\` of this list`);
}
