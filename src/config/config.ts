// The configuration: flags win over environment variables, those over rlm.toml, and that over the defaults.
//
// The environment wins over `.env`, which is read from the folder of the project's rlm.toml (else the current folder) and
// from that of the user's own file. Keys of providers are in the environment or in `.env`, never in rlm.toml.

import { dirname, join, resolve } from "node:path";
import type { TokenPrice } from "../protocol/usage.ts";
import { findProjectFile, findUserFile, readConfigFile, type ConfigPaths } from "./config-file.ts";
import { readDotEnv } from "./dot-env.ts";
import * as settings from "./settings.ts";
import type { Settings } from "./settings.ts";
import { readVariables } from "./variables.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { homeFolder } from "../util/home-folder.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings from the command line. Undefined: the flag is absent. */
export type Flags = { readonly [Key in keyof settings.RLMSettings]?: settings.RLMSettings[Key] | undefined };

export interface ConfigOptions {
  readonly cwd: string;
  /** The environment of this process. */
  readonly env: Environment;
  readonly flags?: Flags;
  /** The file to read instead of the one that would be found. */
  readonly path?: string;
}

export interface Config {
  /** The file that was read. Null: none was found. */
  readonly path: string | null;
  /** The environment with the additions of `.env`. Contains secrets: do not print it. */
  readonly env: Environment;
  /** Only the additions of `.env`. */
  readonly dotEnv: Readonly<Record<string, string>>;
  /** The file is the user's own, not the project's. */
  readonly isOwnFile: boolean;
  /** The address of the provider that the user approved with a flag or a variable. */
  readonly agreedUrl: string | undefined;
  readonly rlm: settings.RLMSettings;
  readonly backends: Readonly<Record<string, settings.BackendSettings>>;
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly docker: Settings<"docker">;
  readonly sessions: Settings<"sessions">;
  readonly server: Settings<"server">;
  /** By their names in the runtime. */
  readonly limits: settings.LimitSettings;
  readonly network: Settings<"network">;
  readonly mcpServers: Settings<"mcp_servers">;
}

/** Throws a ConfigurationError that names the file, the line and the key, or the variable. */
export function loadConfig({ cwd, env, flags = {}, path }: ConfigOptions): Config {
  const paths: ConfigPaths = { cwd: resolve(cwd), home: env["HOME"] || homeFolder(), env };
  const project = path === undefined ? findProjectFile(paths) : resolve(paths.cwd, path);
  const file = project ?? findUserFile(paths);
  const folder = file === undefined ? paths.cwd : dirname(file);
  const dotEnv = readDotEnvs([project === undefined ? paths.cwd : folder, folder], env);
  const merged = { ...dotEnv, ...env };
  const parsed = file === undefined ? {} : readConfigFile(file);
  return {
    path: file ?? null,
    env: merged,
    dotEnv,
    agreedUrl: flags.baseUrl ?? env["RLM_BASE_URL"],
    isOwnFile: file !== undefined && project === undefined,
    rlm: { ...settings.toRLMSettings({ ...parsed.rlm, ...readVariables(merged) }), ...omitUndefined(flags) },
    backends: mapValues(parsed.backends, settings.toBackend),
    prices: mapValues(parsed.prices, settings.toPrice),
    docker: parsed.docker ?? {},
    sessions: settings.resolvePaths(parsed.sessions ?? {}, folder),
    server: parsed.server ?? {},
    limits: settings.toLimits(parsed.limits ?? {}),
    network: parsed.network ?? {},
    mcpServers: parsed.mcp_servers ?? {},
  };
}

/** The variables that the environment does not set. The first folder wins. */
function readDotEnvs(folders: readonly string[], env: Environment): Record<string, string> {
  const files = [...new Set(folders)].map((folder) => readDotEnv(join(folder, ".env")));
  const found = Object.entries(Object.assign({}, ...files.toReversed()) as Record<string, string>);
  return Object.fromEntries(found.filter(([name]) => env[name] === undefined));
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>> | undefined,
  convert: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, convert(value)]));
}
