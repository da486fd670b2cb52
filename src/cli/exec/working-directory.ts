// --cwd: where code starts. It is a path of this machine that is mounted, or a path in the session.

import { realpathSync, statSync } from "node:fs";
import { isAbsolute, normalize, resolve } from "node:path";
import type { Mount } from "../../api/local.ts";
import { linkMounts, toRealPaths } from "../../environments/mounts.ts";
import { printError } from "../io/print-error.ts";
import { UsageError } from "../options/usage-error.ts";

/** The path as code in the session sees it. Throws a UsageError for a folder of this machine that is not mounted. */
export function toSessionPath(given: string, mounts: readonly Mount[]): string {
  if (given === "") throw new UsageError("--cwd needs a path");
  const resolved = toRealPaths(mounts);
  const real = toRealPath(given);
  if (real !== undefined && resolved.some(({ path }) => `${real}/`.startsWith(`${path}/`))) return real;
  if (isAbsolute(given)) return given; // code sees folders of the system, too
  const [first = ""] = normalize(given).split("/");
  if (Object.hasOwn(linkMounts(resolved).links, first)) return given;
  if (isFolder(given)) throw notMounted(given);
  return given;
}

/** Opens a session. Explains why its `cwd` cannot be used. */
export async function openInFolder<Session>(cwd: string | undefined, open: () => Promise<Session>): Promise<Session> {
  try {
    return await open();
  } catch (error) {
    if (cwd === undefined || !(error instanceof RangeError)) throw error;
    throw isFolder(cwd) ? notMounted(cwd) : new UsageError(error.message);
  }
}

/** Says on stderr which mounts have no link in the working directory. */
export function reportLinks(mounts: readonly Mount[]): void {
  for (const problem of linkMounts(toRealPaths(mounts)).problems) printError(problem);
}

function notMounted(given: string): UsageError {
  return new UsageError(
    `cannot start in '${given}': code does not see this folder of the machine. Add --mount ${given}, or --mount ${given}:rw to write to it`,
  );
}

function toRealPath(path: string): string | undefined {
  try {
    return realpathSync(resolve(path));
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  return statSync(resolve(path), { throwIfNoEntry: false })?.isDirectory() === true;
}
