// Why a file of the host cannot be used, in words: messages of the system name calls and temporary names, which say nothing to a user.

import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

const BY_CODE: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not use it",
  EPERM: "this user may not use it",
  EROFS: "the file system is read-only",
  ENOSPC: "there is no space left on the disk",
  EDQUOT: "the quota of this user is used up",
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its links lead in a circle",
};

/** Without a full stop. */
export function describeReadProblem(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return code === "ENOTDIR" ? "there is no such file" : (BY_CODE[code] ?? message);
}

/** Why a file cannot be written at a path. Names the folder that is missing or is none. Without a full stop. */
export function describeWriteProblem(path: string, error: unknown): string {
  if (isFolder(path)) return "it is a folder. Name a file in it";
  const { code = "", message } = error as NodeJS.ErrnoException;
  const folder = nearestFolder(path);
  if (code === "ENOTDIR" || code === "EEXIST") return `'${folder}' is not a folder`;
  if (code === "ENOENT")
    return folder === dirname(resolve(path))
      ? "there is no such file"
      : `there is no folder '${dirname(resolve(path))}'`;
  if (code === "EACCES" || code === "EPERM") return `this user may not write to '${folder}'`;
  return BY_CODE[code] ?? message;
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The innermost part of the path, without its last name, that exists. */
export function nearestFolder(path: string): string {
  let folder = dirname(resolve(path));
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}
