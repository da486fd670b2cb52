// Text of a provider made fit for error messages.

import { secretEncodings } from "../../../util/secret-encodings.ts";

const MAX_CHARACTERS = 500;

/** One line of limited length without secrets: neither the given ones nor what looks like a key. */
export function redact(text: string, secrets: readonly string[]): string {
  let redacted = text;
  for (const form of secrets.flatMap(secretEncodings)) redacted = redacted.replaceAll(form, "***");
  // Keys of others, and the part of ours that a provider shows.
  redacted = redacted.replaceAll(/\b(sk|pk|key)[-_][\w.*-]{6,}/gi, "$1-***");
  redacted = redacted.replaceAll(/\b(AIza|xai-|gsk_|hf_|AKIA|ASIA)[\w-]{12,}/g, "$1***");
  redacted = redacted.replaceAll(/\b(bearer +|key[ :=]+(?=[\w.*-]*[\d*]))[\w.*~+/=-]{6,}/gi, "$1***");
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed
  redacted = redacted.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  const rest = redacted.length - MAX_CHARACTERS;
  return rest > 0 ? `${redacted.slice(0, MAX_CHARACTERS)}... (${rest} more characters)` : redacted;
}
