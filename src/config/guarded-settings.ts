// Settings that a project's file may make only after the user has trusted it: what runs a program on this machine, shows its files,
// opens it to others or connects to them.

import { toKeyName } from "../util/toml/key-name.ts";
import { NAMED_SECTIONS } from "./layers.ts";
import type { ConfigFile } from "./schema.ts";

/** A section, or a key in one. */
const GUARDED: readonly (readonly [section: keyof ConfigFile, key?: string])[] = [
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
];

/** Splits a file into what always counts and what needs trust. */
export function splitGuarded(data: ConfigFile): { readonly free: ConfigFile; readonly guarded: ConfigFile } {
  const free: Record<string, Record<string, unknown>> = {};
  const guarded: Record<string, Record<string, unknown>> = {};
  for (const [section, content] of Object.entries(data as Readonly<Record<string, object>>)) {
    for (const [key, value] of Object.entries(content)) {
      const target = isGuarded(section, key) ? guarded : free;
      (target[section] ??= {})[key] = value;
    }
  }
  return { free: free, guarded: guarded };
}

/** The addresses of providers, and the variables whose values are sent there as keys once the file is trusted. */
export function addressesIn(data: ConfigFile): readonly (readonly string[])[] {
  const own = data.rlm?.base_url === undefined ? [] : [["rlm", "base_url"]];
  const named = Object.entries(data.backends ?? {}).flatMap(([name, { base_url, api_key_env }]) => [
    ...(base_url === undefined ? [] : [["backends", name, "base_url"]]),
    ...(api_key_env === undefined || (base_url ?? own[0]) === undefined ? [] : [["backends", name, "api_key_env"]]),
  ]);
  return [...own, ...named];
}

/** The names of the settings in a table: its keys, and the names of named tables. */
export function settingNames(data: ConfigFile): readonly string[] {
  return Object.entries(data as Readonly<Record<string, object>>).flatMap(([section, content]) =>
    Object.keys(content).map((key) => toSettingName(section, key)),
  );
}

function toSettingName(section: string, key: string): string {
  const name = toKeyName([section, key]);
  return NAMED_SECTIONS.includes(section) ? `[${name}]` : name;
}

function isGuarded(section: string, key: string): boolean {
  return GUARDED.some(([name, only]) => name === section && (only === undefined || only === key));
}
