// Ids for what nobody named.

import { randomUUID } from "node:crypto";

/** `short`: counted, easy to read and to type, for a door that only its owner uses. `random`: nobody guesses one. */
export type IdStyle = "short" | "random";

/** Makes ids with this prefix: `s1`, `s2`, or `s-9f86d081884c7d65`. Throws a RangeError for a style that is none. */
export function idMaker(prefix: string, style: IdStyle): () => string {
  if (style === "random") return () => randomId(prefix);
  if (style !== "short") throw new RangeError(`Cannot use '${String(style)}' as ids: 'short' or 'random'`);
  let made = 0;
  return () => `${prefix}${++made}`;
}

/** With 64 random bits: both ends of a UUID, which is made of bytes that were drawn before and so costs a fortieth of drawing them. */
export function randomId(prefix: string): string {
  const uuid = randomUUID();
  return `${prefix}-${uuid.slice(0, 8)}${uuid.slice(-8)}`;
}
