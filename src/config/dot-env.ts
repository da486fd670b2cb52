// Parses `.env`: lines of KEY=VALUE. Values never appear in messages.
//
//   NAME=value  # a comment needs a space before it
//   export NAME="with escapes: \n \" \\"      'verbatim'      quotes may hold several lines

import { readFileSync } from "node:fs";
import { ConfigurationError } from "../errors.ts";

const MAX_CHARACTERS = 1024 * 1024;
const LINE =
  /^[^\S\n]*(?:export[^\S\n]+)?(?<name>[A-Za-z_][\w.]*)[^\S\n]*=[^\S\n]*(?:"(?<double>(?:[^"\\]|\\[^])*)"|'(?<single>[^']*)'|(?<bare>(?!["'])[^\n]*?))[^\S\n]*(?:(?<=[\s"'=])#[^\n]*)?$/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Empty if there is no file. */
export function readDotEnv(path: string): Readonly<Record<string, string>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR" || code === "ENOTDIR") return {};
    throw new ConfigurationError({ source: path, line: null, why: message }, { cause: error });
  }
  return parseDotEnv(text, path);
}

/** Throws a ConfigurationError that names the line. The last value of a repeated name wins. */
export function parseDotEnv(text: string, path: string): Readonly<Record<string, string>> {
  if (text.length > MAX_CHARACTERS) throw new ConfigurationError({ source: path, line: null, why: "it is too long" });
  const found: Record<string, string> = {};
  const lines = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  for (let index = 0; index < lines.length; index += 1) {
    const first = index;
    let statement = lines[index] ?? "";
    if (/^\s*(#|$)/.test(statement)) continue;
    while (isOpen(statement) && index + 1 < lines.length) {
      index += 1;
      statement += `\n${lines[index]}`;
    }
    const groups = LINE.exec(statement)?.groups;
    if (groups?.["name"] === undefined) {
      throw new ConfigurationError({ source: path, line: first + 1, why: "it is not KEY=VALUE" });
    }
    found[groups["name"]] = toValue(groups);
  }
  return found;
}

/** Whether the value begins with a quote that is not closed yet. */
function isOpen(statement: string): boolean {
  const value = /^[^=\n]*=[^\S\n]*(?<value>[^]*)$/.exec(statement)?.groups?.["value"] ?? "";
  if (value.startsWith('"')) return !/^"(?:[^"\\]|\\[^])*"/.test(value);
  return value.startsWith("'") && !/^'[^']*'/.test(value);
}

function toValue({ double, single, bare }: { readonly [name: string]: string | undefined }): string {
  if (double !== undefined) return double.replaceAll(/\\([^])/g, (_, char: string) => ESCAPES[char] ?? char);
  return single ?? (bare ?? "").trim();
}
