// The configuration. Each source wins over those before it: the defaults, the user's own file, the project's rlm.toml, `.env`, environment
// variables, flags.
//
// `.env` is read from the folder of the project's rlm.toml (else the current folder) and from that of the user's own file. Keys of
// providers are in the environment or in `.env`, never in rlm.toml. A project's file is not trusted: see guarded-settings.ts.

import { dirname, resolve } from "node:path";
import type { DockerOptions, WasmOptions } from "../api/local.ts";
import type { TokenPrice } from "../protocol/usage.ts";
import {
  findProjectFile,
  isFile,
  readConfigFile,
  userFilePath,
  type ConfigPaths,
  type LoadedFile,
} from "./config-file.ts";
import { readDotEnvs, type DotEnvFile } from "./dot-env.ts";
import { guardedPaths, toSettingName, withoutGuarded } from "./guarded-settings.ts";
import { mergeLayers, type Layer, type Origins } from "./layers.ts";
import type { ConfigFile, RLMTable } from "./schema.ts";
import * as settings from "./settings.ts";
import type { Settings } from "./settings.ts";
import { trustOf, type TrustState } from "./trust.ts";
import { readSessionVariables, readVariables, variableOf } from "./variables.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { lineOf } from "../util/toml/line-of.ts";
import { homeFolder } from "../util/home-folder.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings of [rlm] from the command line. Undefined: the flag is absent. */
export type Flags = { readonly [Key in keyof RLMTable]?: RLMTable[Key] | undefined };

export interface ConfigOptions {
  readonly cwd: string;
  /** The environment of this process. */
  readonly env: Environment;
  readonly flags?: Flags;
  /** The file to read instead of the project's. The user named it, so it is trusted. */
  readonly path?: string;
  /** Ignores an `.env` that cannot be read, for commands that need no keys. Default: it is an error. */
  readonly isDotEnvOptional?: boolean;
}

/** A file that was read. */
export interface ConfigSource {
  readonly kind: "user-file" | "project-file" | "named-file";
  readonly path: string;
  readonly trust: TrustState;
}

/** Settings of a project's file that do not count. */
export interface IgnoredSettings {
  readonly path: string;
  readonly names: readonly string[];
  /** `changed`: the file was trusted with another content. */
  readonly trust: "changed" | "new";
}

export interface Config {
  /** The files that were read: the user's own, then the project's. */
  readonly files: readonly ConfigSource[];
  /** Null: everything counts. */
  readonly ignored: IgnoredSettings | null;
  /** What the sources set, in the form of the file. */
  readonly table: ConfigFile;
  readonly origins: Origins;
  /** The environment with the additions of `.env`. Contains secrets: do not print it. */
  readonly env: Environment;
  /** Only the additions of `.env`; the first file wins. */
  readonly dotEnvs: readonly DotEnvFile[];
  readonly rlm: settings.RLMSettings;
  readonly models: Readonly<Record<string, settings.DefinedModel>>;
  readonly backends: Readonly<Record<string, settings.BackendSettings>>;
  readonly prices: Readonly<Record<string, TokenPrice>>;
  /** By their names in the runtime. */
  readonly docker: DockerOptions;
  readonly wasm: WasmOptions;
  readonly sessions: Settings<"sessions">;
  readonly server: Settings<"server">;
  /** By their names in the runtime. */
  readonly limits: settings.LimitSettings;
  readonly network: Settings<"network">;
  readonly mcpServers: Settings<"mcp_servers">;
}

/** Throws a ConfigurationError that names the file, the line and the key, or the variable. */
export function loadConfig({ cwd, env, flags = {}, path, isDotEnvOptional = false }: ConfigOptions): Config {
  const paths: ConfigPaths = { cwd: resolve(cwd), home: env["HOME"] || homeFolder(), env };
  const files = readFiles(paths, path);
  const project = files.find(({ kind }) => kind !== "user-file");
  const folders = [
    { folder: project === undefined ? paths.cwd : dirname(project.path), isOwn: false },
    { folder: dirname(userFilePath(paths)), isOwn: true },
  ];
  const dotEnvs = readDotEnvs(folders, env, isDotEnvOptional);
  const fromFiles = files.map(toLayer);
  const { table, origins } = mergeLayers([...fromFiles, ...variableLayers(dotEnvs, env), flagLayer(flags)]);
  return {
    files: files.map(({ kind, path: file, trust }) => ({ kind, path: file, trust })),
    ignored: toIgnored(files),
    table,
    origins,
    env: { ...Object.assign({}, ...dotEnvs.toReversed().map(({ values }) => values)), ...env },
    dotEnvs,
    rlm: settings.toRLMSettings(table.rlm ?? {}),
    models: mapValues(table.models, settings.toModel),
    backends: mapValues(table.backends, settings.toBackend),
    prices: mapValues(table.prices, settings.toPrice),
    docker: settings.toDocker(table.docker ?? {}),
    wasm: table.wasm ?? {},
    sessions: table.sessions ?? {},
    server: table.server ?? {},
    limits: settings.toLimits(table.limits ?? {}),
    network: table.network ?? {},
    mcpServers: table.mcp_servers ?? {},
  };
}

type FoundFile = LoadedFile & ConfigSource;

/** The weakest first. A file that the user names replaces the project's. */
function readFiles(paths: ConfigPaths, named: string | undefined): readonly FoundFile[] {
  const own = userFilePath(paths);
  const project = named === undefined ? findProjectFile(paths) : resolve(paths.cwd, named);
  const files: FoundFile[] = [];
  if (isFile(own) && own !== project) files.push({ ...readConfigFile(own), kind: "user-file", trust: "trusted" });
  if (project === undefined) return files;
  const file = readConfigFile(project);
  const isOwn = project === own;
  if (isOwn || named !== undefined) {
    return [...files, { ...file, kind: isOwn ? "user-file" : "named-file", trust: "trusted" }];
  }
  return [...files, { ...file, kind: "project-file", trust: trustOf(file) }];
}

function toLayer({ kind, path, text, data, trust }: FoundFile): Layer {
  const isApproved = trust === "trusted";
  const counted = isApproved ? data : withoutGuarded(data);
  const { rlm, models, sessions, wasm } = counted;
  const folder = dirname(path);
  const resolved = {
    ...(rlm && { rlm: settings.resolveStrategy(rlm, folder) }),
    ...(models && { models: mapValues(models, (model) => settings.resolveStrategy(model, folder)) }),
    ...(sessions && { sessions: settings.resolvePaths(sessions, folder) }),
    ...(wasm && { wasm: settings.resolveWheels(wasm, folder) }),
  };
  return {
    data: { ...counted, ...resolved },
    originOf: (key) => ({ kind, path, line: lineOf(text, key), isApproved }),
  };
}

function toIgnored(files: readonly FoundFile[]): IgnoredSettings | null {
  const file = files.at(-1);
  if (file === undefined || file.trust === "trusted") return null;
  const names = guardedPaths(file.data).map(toSettingName);
  return names.length === 0 ? null : { path: file.path, names, trust: file.trust };
}

function variableLayers(dotEnvs: readonly DotEnvFile[], env: Environment): readonly Layer[] {
  const fromDotEnvs = dotEnvs.toReversed().map(({ path, isOwn: isApproved, values }): Layer => ({
    data: { rlm: settings.resolveStrategy(readVariables(values, isApproved), dirname(path)) },
    originOf: (key) => ({ kind: "dot-env", path, variable: variableOf(key), isApproved }),
  }));
  const fromEnvironment: Layer = {
    data: { rlm: readVariables(env, true), sessions: readSessionVariables(env) },
    originOf: (key) => ({ kind: "variable", variable: variableOf(key), isApproved: true }),
  };
  return [...fromDotEnvs, fromEnvironment];
}

function flagLayer(flags: Flags): Layer {
  return {
    data: { rlm: omitUndefined(flags) },
    originOf: (key) => ({ kind: "flag", flag: toFlag(key.at(-1) ?? ""), isApproved: true }),
  };
}

function toFlag(key: string): string {
  if (key === "environment") return "--env";
  return key === "cache" ? "--no-cache" : `--${key.replaceAll("_", "-")}`;
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>> | undefined,
  convert: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, convert(value)]));
}
