// Where this program keeps what outlives it, by the conventions of the platform.

import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";

/**
 * Something in the user's data folder, there or not: `RLM_DATA`, else `XDG_DATA_HOME/rlm`, else `~/.local/share/rlm`. A variable that is
 * empty is none, and neither is an `XDG_DATA_HOME` that depends on the current folder: tokens would lie wherever a command is called.
 */
export function dataPath(name: string): string {
  const { RLM_DATA: own = "", XDG_DATA_HOME: shared = "" } = process.env;
  if (own !== "") return join(own, name);
  return join(isAbsolute(shared) ? shared : join(homedir(), ".local", "share"), "rlm", name);
}

/** A folder under the user's data folder, made with mode 0700; undefined where it cannot be made. */
export function dataFolder(name: string): string | undefined {
  const folder = dataPath(name);
  try {
    makeFolder(folder);
    return folder;
  } catch {
    return undefined;
  }
}

/**
 * With the folders above it. One at a time: the recursive way of `mkdirSync` never returns where the kernel denies that a
 * folder exists.
 */
export function makeFolder(folder: string, mode = 0o700): void {
  const path = resolve(folder);
  if (existsSync(path)) return;
  makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // somebody else was faster
  }
}
