// Settings that a project's file may make only after the user has trusted it: what runs a program on this machine, shows its files,
// opens it to others or connects to them.

import { providerOf } from "../backends/provider-table.ts";
import { toKeyName } from "../util/toml/key-name.ts";
import { NAMED_SECTIONS } from "./layers.ts";
import type { ConfigFile } from "./schema.ts";

/** A section, or a key in one. `*` is any name of a named table. */
const GUARDED: readonly (readonly [section: keyof ConfigFile, ...keys: string[]])[] = [
  ["sessions", "python"],
  ["sessions", "preload"],
  ["sessions", "users"],
  ["sessions", "mounts"],
  ["server", "host"],
  ["server", "allow_hosts"],
  ["server", "allow_origins"],
  ["docker", "image"],
  ["docker", "network"],
  ["docker", "runtime"],
  ["docker", "pull"],
  ["docker", "host"],
  ["wasm"],
  ["network"],
  ["mcp_servers"],
  // It may name tools of the provider that reach other servers.
  ["rlm", "extra_body"],
  ["models", "*", "extra_body"],
];

type Table = Readonly<Record<string, unknown>>;

/** What counts without trust. */
export function withoutGuarded(data: ConfigFile): ConfigFile {
  const guarded = guardedPaths(data).map(toKeyName);
  const keep = (table: Table, path: readonly string[]): Table =>
    Object.fromEntries(
      Object.entries(table)
        .filter(([key]) => !guarded.includes(toKeyName([...path, key])))
        .map(([key, value]) => [key, isNamedTable([...path, key]) ? keep(value as Table, [...path, key]) : value]),
    );
  return Object.fromEntries(
    Object.entries(data as Readonly<Record<string, Table>>).map(([section, content]) => [
      section,
      keep(content, [section]),
    ]),
  );
}

/** What needs trust: keys of sections, and named tables or keys of them. */
export function guardedPaths(data: ConfigFile): readonly (readonly string[])[] {
  return Object.entries(data as Readonly<Record<string, Table>>).flatMap(([section, content]) =>
    Object.entries(content).flatMap(([key, value]) => pathsIn([section, key], value)),
  );
}

function pathsIn(path: readonly string[], value: unknown): readonly (readonly string[])[] {
  if (isGuarded(path)) return [path];
  if (!isNamedTable(path)) return [];
  return Object.keys(value as Table)
    .map((key) => [...path, key])
    .filter(isGuarded);
}

function isNamedTable([section = "", ...rest]: readonly string[]): boolean {
  return rest.length === 1 && NAMED_SECTIONS.includes(section);
}

export function isGuarded(path: readonly string[]): boolean {
  return GUARDED.some(
    (guarded) => guarded.length <= path.length && guarded.every((part, at) => part === "*" || part === path[at]),
  );
}

/** The addresses of providers, and the variables whose values are sent there as keys once the file is trusted. */
export function addressesIn(data: ConfigFile): readonly (readonly string[])[] {
  const own = data.rlm?.base_url === undefined ? [] : [["rlm", "base_url"]];
  const named = Object.entries(data.backends ?? {}).flatMap(([name, { type = name, base_url, api_key_env }]) => {
    const usual: readonly string[] = providerOf(type)?.keyVariables ?? [];
    const isUsual = usual.includes(api_key_env ?? "");
    const isSentElsewhere = (base_url ?? own[0]) !== undefined || !isUsual;
    return [
      ...(base_url === undefined ? [] : [["backends", name, "base_url"]]),
      ...(api_key_env === undefined || !isSentElsewhere ? [] : [["backends", name, "api_key_env"]]),
    ];
  });
  return [...own, ...named];
}

/** As in messages: a key, or a named table. */
export function toSettingName(path: readonly string[]): string {
  const name = toKeyName(path);
  return isNamedTable(path) ? `[${name}]` : name;
}
