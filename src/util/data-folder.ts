// Where this program keeps what outlives it, by the conventions of the platform.

import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A folder under the user's data folder, made with mode 0700; undefined where it cannot be made. */
export function dataFolder(name: string): string | undefined {
  const base =
    process.env["RLM_DATA"] ?? join(process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share"), "rlm");
  const folder = join(base, name);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  } catch {
    return undefined;
  }
}
