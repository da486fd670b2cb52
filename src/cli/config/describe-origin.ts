// Where a value of the configuration came from, in words.

import { relative } from "node:path";
import type { Origin } from "../../config/layers.ts";
import { currentFolder } from "../../util/system/current-folder.ts";
import { homeFolder } from "../../util/home-folder.ts";

/** `rlm.toml:3`, `~/.config/rlm/config.toml:2`, `RLM_MODEL in .env`, `RLM_MODEL`, `--model`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case "user-file":
    case "project-file":
    case "named-file":
      return `${shortenPath(origin.path)}${origin.line === null ? "" : `:${origin.line}`}`;
    case "dot-env":
      return `${origin.variable} in ${shortenPath(origin.path)}`;
    case "variable":
      return origin.variable;
    case "flag":
      return origin.flag;
  }
}

/** Relative to the current folder if it is in it, or with `~` if it is in the home directory. */
export function shortenPath(path: string): string {
  const here = relative(currentFolder(), path);
  if (!here.startsWith("..")) return here;
  const home = homeFolder();
  return home !== "/" && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
