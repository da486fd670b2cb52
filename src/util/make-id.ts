// Ids for what nobody named.

import { randomBytes } from "node:crypto";

/** `short`: counted, easy to read and to type, for a door that only its owner uses. `random`: nobody guesses one. */
export type IdStyle = "short" | "random";

/** Makes ids with this prefix: `s1`, `s2`, or `s-9f86d081884c7d65`. Throws a RangeError for a style that is none. */
export function idMaker(prefix: string, style: IdStyle): () => string {
  if (style === "random") return () => randomId(prefix);
  if (style !== "short") throw new RangeError(`Cannot use '${String(style)}' as ids: 'short' or 'random'`);
  let made = 0;
  return () => `${prefix}${++made}`;
}

/** With 64 random bits. */
export function randomId(prefix: string): string {
  return `${prefix}-${randomBytes(8).toString("hex")}`;
}
