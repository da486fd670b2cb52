// Finds and parses rlm.toml.

import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { toConfigurationError } from "../util/toml/configuration-error.ts";
import { parseTOML } from "../util/toml/parse-toml.ts";
import { readSmallFile } from "../util/toml/read-small-file.ts";
import { configSchema, type ConfigFile } from "./schema.ts";

export const FILE_NAME = "rlm.toml";

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
  const bytes = readSmallFile(path);
  const text = bytes.toString("utf8");
  const data = parseTOML(path, text);
  const parsed = configSchema.safeParse(data);
  if (parsed.success) {
    const digest = createHash("sha256").update(bytes).digest("hex");
    return { path, text, digest, data: parsed.data };
  }
  throw toConfigurationError(parsed.error, { path, text, data, schema: configSchema });
}

function isOfThisUser(path: string): boolean {
  const { uid } = statSync(path);
  return uid === 0 || process.getuid === undefined || uid === process.getuid();
}
