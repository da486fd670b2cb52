// Parses `.env`: lines of KEY=VALUE. Values never appear in messages.
//
//   NAME=value  # a comment needs a space before it
//   export NAME="with escapes: \n \" \\"      'verbatim'      quotes may hold several lines

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "../errors.ts";
import { readStart } from "../util/files/read-start.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const MAX_BYTES = 1024 * 1024;
const LINE =
  /^[^\S\n]*(?:export[^\S\n]+)?(?<name>[A-Za-z_][\w.]*)[^\S\n]*=[^\S\n]*(?:"(?<double>(?:[^"\\]|\\[^])*)"|'(?<single>[^']*)'|(?<bare>(?!["'])[^\n]*?))[^\S\n]*(?:(?<=[\s"'=])#[^\n]*)?$/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** A file, with the variables that neither the environment nor a file before it sets. */
export interface DotEnvFile {
  readonly path: string;
  /** It is beside the user's own configuration, not in a project. */
  readonly isOwn: boolean;
  /** It is a link that leads out of its folder: its keys are not those of the project. */
  readonly isElsewhere: boolean;
  readonly values: Readonly<Record<string, string>>;
}

interface Place {
  readonly folder: string;
  readonly isOwn: boolean;
}

/** The first file wins. A file that does not exist has no values; if they are optional, neither has what cannot be read. */
export function readDotEnvs(places: readonly Place[], env: Environment, isOptional: boolean): readonly DotEnvFile[] {
  const known = new Set(Object.keys(env).filter((name) => env[name] !== undefined));
  return places.map(({ folder, isOwn }) => {
    const path = join(folder, ".env");
    const found = isOptional ? readIfPossible(path) : readDotEnv(path);
    const values = Object.entries(found).filter(([name]) => !known.has(name));
    for (const [name] of values) known.add(name);
    return { path, isOwn, isElsewhere: isLinkOut(path, folder), values: Object.fromEntries(values) };
  });
}

/** Lines that are wrong are left out: one of the others may choose where code runs. */
function readIfPossible(path: string): Readonly<Record<string, string>> {
  try {
    return readDotEnv(path, () => {});
  } catch (error) {
    if (error instanceof ConfigurationError) return {};
    throw error;
  }
}

type OnProblem = (error: ConfigurationError) => void;

const raise: OnProblem = (error) => {
  throw error;
};

/** Empty if there is no file. */
export function readDotEnv(path: string, onProblem = raise): Readonly<Record<string, string>> {
  let text: string;
  try {
    text = readStart(path, MAX_BYTES + 1).toString("utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR" || code === "ENOTDIR") return {};
    throw new ConfigurationError({ source: path, line: null, why: message }, { cause: error });
  }
  return parseDotEnv(text, path, onProblem);
}

function isLinkOut(path: string, folder: string): boolean {
  try {
    return !realpathSync(path).startsWith(join(realpathSync(folder), "/"));
  } catch {
    return false; // there is no file
  }
}

/** The last value of a repeated name wins. `onProblem` is called for each line that is wrong. Default: that is thrown. */
export function parseDotEnv(text: string, path: string, onProblem = raise): Readonly<Record<string, string>> {
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new ConfigurationError({ source: path, line: null, why: "it is too long" });
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
      onProblem(new ConfigurationError({ source: path, line: first + 1, why: "it is not KEY=VALUE" }));
      index = first; // a quote that is not closed takes in all that follows
      continue;
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
