// How a user starts this program again: as `rlm`, through npx, or with node from a clone.

import { basename, relative, resolve } from "node:path";

/** For a shell that is in the same folder. `script` is what Node was started with. */
export function programName(script = process.argv[1] ?? "", cwd = process.cwd()): string {
  const path = resolve(cwd, script);
  if (/[/\\]_npx[/\\]/.test(path)) return "npx rlm-runtime";
  if (/[/\\]node_modules[/\\]\.bin[/\\]/.test(path)) return "npx rlm";
  if (!/\.[cm]?[jt]s$/.test(basename(path))) return "rlm";
  const shorter = relative(cwd, path);
  const shown = shorter.startsWith("..") ? path : shorter;
  return `node ${/^[\w./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`}`;
}
