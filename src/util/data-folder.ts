// The user's data folder, by the XDG conventions.

import { existsSync, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { describeWriteProblem } from "./files/file-problem.ts";
import { homeFolder } from "./home-folder.ts";

/**
 * A path in the data folder, which need not exist: `RLM_DATA`, else `XDG_DATA_HOME/rlm`, else `~/.local/share/rlm`. Empty and
 * relative paths are ignored: a folder of the project that one happens to be in would hold tokens, and could bring compiled code.
 */
export function dataPath(name: string): string {
  const { RLM_DATA: own = "", XDG_DATA_HOME: shared = "" } = process.env;
  if (isAbsolute(own)) return join(own, name);
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

/**
 * A folder in the data folder for compiled code, which is executed as it is found. So nobody else may be able to replace it, or a folder
 * above it, either. Undefined if somebody can, or if it would be created in a folder of another user.
 */
export function compiledCodeFolder(name: string): string | undefined {
  const path = dataPath(name);
  try {
    if (!pathsTo(nearestExisting(path)).every(isSafe)) return undefined;
    if (dataFolder(name) === undefined) return undefined;
    const real = realpathSync(path);
    return [...pathsTo(path), ...pathsTo(real)].every(isSafe) ? real : undefined;
  } catch {
    return undefined;
  }
}

/** Whether nobody but this user and root can rename or replace what is in a folder. Links count as what they lead to. */
function isSafe(folder: string): boolean {
  const { uid, gid, mode } = statSync(folder);
  if (![0, process.getuid?.()].includes(uid) || ![0, process.getuid?.()].includes(lstatSync(folder).uid)) return false;
  const isForOthers = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== process.getgid?.());
  return !isForOthers || (mode & 0o1000) !== 0;
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

/** The folder, and all above it. */
function pathsTo(folder: string): string[] {
  return folder === dirname(folder) ? [folder] : [...pathsTo(dirname(folder)), folder];
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
