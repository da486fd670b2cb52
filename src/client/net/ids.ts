// Ids that nobody can guess, and their place in addresses.

/** 64 random bits after a prefix: `x-0123456789abcdef`. */
export function randomId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `${prefix}-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** One segment of a path. Undefined: it cannot be sent, because addresses give it another meaning. */
export function toSegment(text: string): string | undefined {
  return text === "" || text === "." || text === ".." ? undefined : percentEncode(text);
}

/** Lone surrogates that stand for a byte (U+DC80 to U+DCFF) become that byte. Throws a RangeError for others. */
export function percentEncode(text: string): string {
  return text.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]|[^A-Za-z0-9\-._~]/g, (character) => {
    const unit = character.charCodeAt(0);
    if (character.length === 1 && unit >= 0xd800 && unit <= 0xdfff) {
      if (unit >= 0xdc80 && unit <= 0xdcff) return `%${(unit - 0xdc00).toString(16).toUpperCase()}`;
      throw new RangeError(`Cannot send '${text.slice(0, 100)}': it is not valid text`);
    }
    return encodeURIComponent(character).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  });
}

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** With its question mark; empty where there is nothing to ask. */
export function toQuery(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? ""
    : `?${given.map(([name, value]) => `${name}=${percentEncode(String(value))}`).join("&")}`;
}
