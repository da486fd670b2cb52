// Names of keys.

/** The path of a key as written in TOML: `rlm.model`, `prices."m.x".input`. */
export function toKeyName(path: readonly string[]): string {
  return path.map((part) => (/^[\w-]+$/.test(part) ? part : JSON.stringify(part))).join(".");
}
