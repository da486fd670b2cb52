// The encodings in which a server may echo a secret that it received in a header, a URL or a body.

/** Shorter encodings are ignored, because they occur in ordinary words. */
const MIN_CHARACTERS = 8;

/** The secret as it is, in a URL, in JSON, in hexadecimal, and in base64 at any offset. The longest first. */
export function secretEncodings(secret: string): readonly string[] {
  if (secret === "") return [];
  const bytes = Buffer.from(secret);
  const others = [
    encodeURIComponent(bytes.toString()),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...[0, 1, 2].flatMap((before) => base64Within(bytes, before)),
  ].filter((form) => form.length >= MIN_CHARACTERS);
  return [...new Set([secret, ...others])].sort((a, b) => b.length - a.length);
}

/** The part of the base64 text that depends only on the secret, with `before` bytes (modulo 3) in front; in both alphabets. */
function base64Within(bytes: Buffer, before: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const isOpenAtEnd = (before + bytes.length) % 3 !== 0;
  const certain = encoded.slice(before === 0 ? 0 : before + 1, isOpenAtEnd ? -1 : undefined);
  return [certain, certain.replaceAll("+", "-").replaceAll("/", "_")];
}
