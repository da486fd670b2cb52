// The user's data folder, by the XDG conventions.

import { existsSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { describeWriteProblem } from "./files/file-problem.ts";
import { homeFolder } from "./home-folder.ts";

/**
 * A path in the data folder, which need not exist: `RLM_DATA`, else `XDG_DATA_HOME/rlm`, else `~/.local/share/rlm`. Empty variables
 * are ignored, and so is a relative `XDG_DATA_HOME`, which would scatter tokens over current folders.
 */
export function dataPath(name: string): string {
  const { RLM_DATA: own = "", XDG_DATA_HOME: shared = "" } = process.env;
  if (own !== "") return join(own, name);
  return join(isAbsolute(shared) ? shared : join(homeFolder(), ".local", "share"), "rlm", name);
}

/**
 * Creates a folder in the data folder with mode 0700. Undefined if that fails, or if it belongs to another user or others can write to
 * it: what is read from it, such as a token or compiled code, would be theirs.
 */
export function dataFolder(name: string): string | undefined {
  const folder = dataPath(name);
  try {
    makeFolder(folder);
    return isOwn(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Why `dataFolder` is undefined. Without a full stop. */
export function describeDataFolder(name: string): string {
  const folder = dataPath(name);
  try {
    makeFolder(folder);
    return "it belongs to another user, or others can write to it";
  } catch (error) {
    return describeWriteProblem(folder, error);
  }
}

function isOwn(folder: string): boolean {
  const user = process.getuid?.();
  const { uid, mode } = statSync(folder);
  return uid === user && lstatSync(folder).uid === user && (mode & 0o022) === 0;
}

/**
 * Creates the folder and its parents one at a time: a recursive `mkdirSync` never returns where the kernel denies that a
 * folder exists.
 */
export function makeFolder(folder: string, mode = 0o700): void {
  const path = resolve(folder);
  if (existsSync(path)) return;
  makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another process created it first
  }
}
