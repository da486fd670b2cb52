// Merges the sources of the configuration, the weakest first, and remembers where each value came from.
//
// A stronger source replaces single keys of a section. A named table, such as [backends.NAME], is replaced as a whole, so that no
// address of one file is combined with a key of another. Lists are replaced; the variables of sessions.env are merged by name.

import { toKeyName } from "../util/toml/key-name.ts";
import type { ConfigFile } from "./schema.ts";

/** Where a value came from. */
export type Origin =
  | {
      readonly kind: "user-file" | "project-file" | "named-file";
      readonly path: string;
      /** Null: unknown. */
      readonly line: number | null;
      /** A project's file that the user has not trusted is not approved. */
      readonly isApproved: boolean;
    }
  /** Approved: it is beside the user's own file. */
  | { readonly kind: "dot-env"; readonly path: string; readonly variable: string; readonly isApproved: boolean }
  | { readonly kind: "variable"; readonly variable: string; readonly isApproved: true }
  | { readonly kind: "flag"; readonly flag: string; readonly isApproved: true };

export interface Layer {
  readonly data: ConfigFile;
  readonly originOf: (path: readonly string[]) => Origin;
}

/** Origins by the name of the key, see `toKeyName`. Absent: the value is the default. */
export type Origins = ReadonlyMap<string, Origin>;

type Table = Readonly<Record<string, unknown>>;

/** Sections whose keys are names that users choose. */
export const NAMED_SECTIONS: readonly string[] = ["models", "backends", "prices", "mcp_servers"];

export function mergeLayers(layers: readonly Layer[]): { readonly table: ConfigFile; readonly origins: Origins } {
  const table: Record<string, Record<string, unknown>> = {};
  const origins = new Map<string, Origin>();
  for (const { data, originOf } of layers) {
    const remember = (path: readonly string[]): void => void origins.set(toKeyName(path), originOf(path));
    for (const [section, content] of Object.entries(data as Readonly<Record<string, Table>>)) {
      const target = (table[section] ??= {});
      for (const [key, value] of Object.entries(content)) {
        const path = [section, key];
        if (NAMED_SECTIONS.includes(section)) forget(origins, path);
        target[key] = isVariables(path) ? { ...(target[key] as Table | undefined), ...(value as Table) } : value;
        for (const leaf of leavesOf(path, value)) remember(leaf);
      }
    }
  }
  return { table: table, origins };
}

/** The paths of the single values below a key. */
export function leavesOf(path: readonly string[], value: unknown): readonly (readonly string[])[] {
  const isTable = isVariables(path) || NAMED_SECTIONS.includes(path[0] ?? "");
  return isTable ? Object.keys(value as Table).map((key) => [...path, key]) : [path];
}

function isVariables([section, key]: readonly string[]): boolean {
  return section === "sessions" && key === "env";
}

function forget(origins: Map<string, Origin>, path: readonly string[]): void {
  for (const name of origins.keys()) if (name.startsWith(`${toKeyName(path)}.`)) origins.delete(name);
}
