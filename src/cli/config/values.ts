// The settings with their values and origins, as rows. Secrets are masked here, before anything is printed.

import { HIDDEN, maskAddress } from "../../util/text/mask-address.ts";
import { KEY_VARIABLES } from "../../backends/provider-table.ts";
import { keyVariable } from "../../config/choose-backend.ts";
import { backendsOfRoles } from "../../config/choose-models.ts";
import type { Config } from "../../config/config.ts";
import { leavesOf, NAMED_SECTIONS, type Origin } from "../../config/layers.ts";
import { toKeyName } from "../../util/toml/key-name.ts";
import { SETTING_DEFAULTS } from "./defaults.ts";

export interface SettingRow {
  readonly key: string;
  /** Undefined: the default has no value, only `words`. */
  readonly value?: unknown;
  readonly words?: string;
  /** Null: the default. */
  readonly origin: Origin | null;
}

/** A variable that holds a key. Its value is never read. */
export interface KeyRow {
  readonly variable: string;
  readonly from: "environment" | ".env";
}

type Table = Readonly<Record<string, unknown>>;

/** What follows is a secret: `--token=abc`, `api_key=abc`, `Authorization: Bearer abc`. */
const ASSIGNED_SECRET = /^(?<name>.*(?:token|secret|password|passwd|api[-_]?key|auth)(?:[^=]*=|[^:]*:\s)).+$/is;
const SECRET_FIELD = /token|secret|password|passwd|key|auth/i;
const SECRET_FLAG = /^--?[\w-]*(?:token|secret|password|passwd|api[-_]?key|auth)[\w-]*$/i;

/** Every setting, those of named tables last. */
export function toRows({ table, origins }: Config): readonly SettingRow[] {
  const set = table as Readonly<Record<string, Table | undefined>>;
  const fixed = Object.entries(SETTING_DEFAULTS).flatMap(([section, defaults]) =>
    Object.entries(defaults).flatMap(([key, otherwise]): readonly SettingRow[] => {
      const value = set[section]?.[key];
      if (value !== undefined) return toValueRows([section, key], value, origins);
      const shown = typeof otherwise === "object" ? { words: otherwise.words } : { value: otherwise };
      return [{ key: toKeyName([section, key]), ...shown, origin: null }];
    }),
  );
  const named = NAMED_SECTIONS.flatMap((section) =>
    Object.entries(set[section] ?? {}).flatMap(([name, entry]) => toValueRows([section, name], entry, origins)),
  );
  return [...fixed, ...named];
}

/** Keys of providers and the token of the server, where they are set. */
export function toKeyRows(config: Config): readonly KeyRow[] {
  const { backends, dotEnvs, env } = config;
  const named = Object.values(backends).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  const ofRoles = backendsOfRoles(config).flatMap((name) => keyVariable(config, name) ?? []);
  const variables = new Set([...KEY_VARIABLES, "RLM_TOKEN", ...named, ...ofRoles]);
  return [...variables]
    .filter((variable) => env[variable])
    .map((variable) => {
      const isInFile = dotEnvs.some(({ values }) => Object.hasOwn(values, variable));
      return { variable, from: isInFile ? ".env" : "environment" };
    });
}

/** A value without its secrets: variables are hidden, and so are credentials in addresses and arguments. */
function maskSecrets([section, key, name]: readonly string[], value: unknown): unknown {
  const isVariables = (section === "sessions" && key === "env") || (section === "mcp_servers" && name === "env");
  if (isVariables) return typeof value === "object" && value !== null ? mapValues(value as Table) : HIDDEN;
  if (Array.isArray(value)) return maskArguments(value);
  if (name === "extra_body" || key === "extra_body") return maskFields(value);
  return typeof value === "string" ? maskAddress(value) : value;
}

/** Fields of requests, to any depth: texts whose names say that they are secret. */
function maskFields(value: unknown): unknown {
  if (typeof value === "string") return maskAddress(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(maskFields);
  const entries = Object.entries(value).map(([name, field]) => {
    const isSecret = typeof field === "string" && SECRET_FIELD.test(name);
    return [name, isSecret ? HIDDEN : maskFields(field)];
  });
  return Object.fromEntries(entries) as unknown;
}

function toValueRows(
  path: readonly string[],
  value: unknown,
  origins: Config["origins"],
): readonly (SettingRow & { readonly value: unknown })[] {
  return leavesOf(path, value).map((leaf) => {
    const [last = ""] = leaf.slice(-1);
    const own = leaf.length === path.length ? value : (value as Table)[last];
    return { key: toKeyName(leaf), value: maskSecrets(leaf, own), origin: origins.get(toKeyName(leaf)) ?? null };
  });
}

function mapValues(variables: Table): Table {
  return Object.fromEntries(Object.keys(variables).map((name) => [name, HIDDEN]));
}

function maskArguments(values: readonly unknown[]): readonly unknown[] {
  return values.map((value, at) => {
    if (typeof value !== "string") return value;
    const before = values[at - 1];
    if (typeof before === "string" && SECRET_FLAG.test(before)) return HIDDEN;
    return maskAddress(value.replace(ASSIGNED_SECRET, `$<name>${HIDDEN}`));
  });
}
