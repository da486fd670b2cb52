// A range of user ids as text: FIRST-LAST.

/** The first and the last id. */
export interface UserRange {
  readonly first: number;
  readonly last: number;
}

const LARGEST_ID = 2 ** 32 - 2;

export const USER_RANGE_RULE = "must be FIRST-LAST, a range of user ids such as 2100000000-2100065535";

/** Undefined if the text is no range. Which ids exist and are free, the fork server checks. */
export function parseUserRange(text: string): UserRange | undefined {
  const [, first = NaN, last = NaN] = (/^(\d{1,10})-(\d{1,10})$/.exec(text) ?? []).map(Number);
  return first >= 1 && last >= first && last <= LARGEST_ID ? { first, last } : undefined;
}
