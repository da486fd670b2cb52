// The ways in which a secret comes out where somebody repeats what they were sent: an echo of a header, of a URL, of a body.

/** Of shorter ones nothing but the secret itself is looked for: they are in every other word. */
const MIN_CHARACTERS = 8;

/** The secret itself, in a URL, in JSON, in hexadecimal, and in base64 wherever in the encoded text it stands. The longest first. */
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

/** What is the same whatever stands before and behind it, with so many bytes (of three) before it; in both alphabets. */
function base64Within(bytes: Buffer, before: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const isOpenAtEnd = (before + bytes.length) % 3 !== 0;
  const certain = encoded.slice(before === 0 ? 0 : before + 1, isOpenAtEnd ? -1 : undefined);
  return [certain, certain.replaceAll("+", "-").replaceAll("/", "_")];
}
