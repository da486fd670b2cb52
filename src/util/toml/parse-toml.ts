// Parses a TOML file.

import { parse, TomlError } from "smol-toml";
import { ConfigurationError } from "../../errors.ts";

const MAX_DEPTH = 20;

/** Throws a ConfigurationError that names the line. */
export function parseTOML(path: string, text: string): unknown {
  try {
    return parse(text, { maxDepth: MAX_DEPTH, unsafeKeyBehaviour: "throw" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Only the first line of the message: the others quote the file, which may contain a secret.
    const why = (error.message.split("\n", 1)[0] ?? "").replace(/^Invalid TOML document: /, "it is not TOML: ");
    throw new ConfigurationError({ source: path, line: error.line, why });
  }
}
