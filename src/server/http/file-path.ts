// The path of a file of a session, as it stands in a URL: percent-encoded bytes, of which not all are UTF-8.

const PREFIX = /^\/v1\/sessions\/[^/]+\/files\//;

/**
 * Bytes that are no text become lone surrogates, as names of files have them. Read from the URL and not from the router, which
 * leaves such bytes encoded, so that two names would look alike.
 */
export function toFilePath({ url }: Pick<Request, "url">): string {
  const encoded = new URL(url).pathname.replace(PREFIX, "");
  return encoded.replaceAll(/(?:%[\dA-Fa-f]{2})+/g, (run) => decode(Buffer.from(run.replaceAll("%", ""), "hex")));
}

function decode(bytes: Buffer): string {
  let text = "";
  let at = 0;
  while (at < bytes.length) {
    const length = lengthOf(bytes[at] ?? 0);
    const part = bytes.subarray(at, at + length);
    const decoded = length === 0 || part.length < length ? undefined : tryDecode(part);
    text += decoded ?? String.fromCodePoint(0xdc00 + (bytes[at] ?? 0));
    at += decoded === undefined ? 1 : length;
  }
  return text;
}

/** Of a character that begins with this byte; 0: none does. */
function lengthOf(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

function tryDecode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
