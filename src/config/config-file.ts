// Finds and parses rlm.toml.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { parse, TomlError } from "smol-toml";
import { ConfigurationError } from "../errors.ts";
import { toStatements } from "../util/toml-statements.ts";
import { toProblems } from "./problems.ts";
import { configSchema, type ConfigFile } from "./schema.ts";

export const FILE_NAME = "rlm.toml";

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 20;

export interface ConfigPaths {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The nearest rlm.toml: in the current folder or above it, up to the home directory or the folder that holds `.git`, whichever
 * comes first. A file in a parent folder must belong to this user or to root, because anybody can write to /tmp.
 */
export function findProjectFile({ cwd, home }: ConfigPaths): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, FILE_NAME);
    if (isFile(path) && (folder === cwd || isOfThisUser(path))) return path;
    if (folder === home || folder === dirname(folder) || existsSync(join(folder, ".git"))) return undefined;
  }
}

/** The user's own file, whether or not it exists. A relative XDG_CONFIG_HOME is ignored: it would be a folder of the project. */
export function userFilePath({ home, env }: Omit<ConfigPaths, "cwd">): string {
  const { XDG_CONFIG_HOME: shared = "" } = env;
  return join(isAbsolute(shared) ? shared : join(home, ".config"), "rlm", "config.toml");
}

/** False where this user may not look, too. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A file that was read, and the digest of what was read. */
export interface LoadedFile {
  readonly path: string;
  readonly text: string;
  readonly digest: string;
  readonly data: ConfigFile;
}

/** Throws a ConfigurationError that names the line and the key. */
export function readConfigFile(path: string): LoadedFile {
  const bytes = readBytes(path);
  const text = bytes.toString("utf8");
  const data = parseTOML(path, text);
  const parsed = configSchema.safeParse(data);
  if (parsed.success) {
    const digest = createHash("sha256").update(bytes).digest("hex");
    return { path, text, digest, data: parsed.data };
  }
  const [problem, ...others] = toProblems(parsed.error, configSchema, data);
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  throw new ConfigurationError({
    source: path,
    line: problem === undefined ? null : lineOf(text, problem.path),
    why: `${problem?.why ?? "it does not have the right form"}${more}`,
  });
}

function isOfThisUser(path: string): boolean {
  const { uid } = statSync(path);
  return uid === 0 || process.getuid === undefined || uid === process.getuid();
}

function readBytes(path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new RangeError(`it has ${size} bytes, more than ${MAX_BYTES}`);
    return readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigurationError({ source: path, line: null, why: REASONS[code ?? ""] ?? message }, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

function parseTOML(path: string, text: string): unknown {
  try {
    return parse(text, { maxDepth: MAX_DEPTH, unsafeKeyBehaviour: "throw" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Only the first line of the message: the others quote the file, which may contain a secret.
    const why = (error.message.split("\n", 1)[0] ?? "").replace(/^Invalid TOML document: /, "it is not TOML: ");
    throw new ConfigurationError({ source: path, line: error.line, why });
  }
}

/** The line of the key, or of its table if the key is missing. */
export function lineOf(text: string, path: readonly string[]): number | null {
  const matches = toStatements(text)
    .map(({ path: written, start }) => ({ start, shared: sharedParts(written, path), length: written.length }))
    .filter(({ shared, length }) => shared > 0 && (shared === length || shared === path.length))
    .toSorted((a, b) => b.shared - a.shared || a.start - b.start);
  const start = matches[0]?.start;
  return start === undefined ? null : text.slice(0, start).split("\n").length;
}

function sharedParts(a: readonly string[], b: readonly string[]): number {
  const end = a.findIndex((part, index) => part !== b[index]);
  return end === -1 ? a.length : end;
}
