// Which folders of the host may be shown to a sandbox at all. Refused before anything starts.

import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { REPLSecurityError } from "../errors.ts";
import type { Mount } from "./environment.ts";

/** Never shown, nor anything above them: the machine's own state, or every user's files at once. */
const WHOLE = [
  "/",
  "/bin",
  "/boot",
  "/dev",
  "/etc",
  "/home",
  "/lib",
  "/lib64",
  "/proc",
  "/root",
  "/run",
  "/sbin",
  "/sys",
];
const INSIDE = ["/dev", "/proc", "/sys"];
const TAKEN = ["/work", "/forks", "/tmp", "/usr", "/var"];

/** The mounts with real, absolute paths, so that what was checked is what is mounted. */
export function resolveMounts(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.map(({ path, mode }) => ({ path: checkMount(path, mode), mode }));
}

/** Parses `PATH[:ro|rw]`, read-only when nothing is said. */
export function parseMount(text: string): Mount {
  const match = /^(?<path>.+?)(?::(?<mode>ro|rw))?$/s.exec(text);
  const path = match?.groups?.["path"];
  if (path === undefined) throw new RangeError(`Cannot read '${text}' as a mount: expected PATH[:ro|rw]`);
  return { path: resolve(path), mode: match?.groups?.["mode"] === "rw" ? "rw" : "ro" };
}

function checkMount(path: string, mode: string): string {
  const refuse = (why: string): never => {
    throw new REPLSecurityError({ action: "mount", target: path, environment: "local", why });
  };
  if (!isAbsolute(path)) refuse("the path is not absolute");
  if (path.includes("\0")) refuse("the path holds a NUL byte");
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    return refuse("it does not exist, or may not be read");
  }
  if (WHOLE.includes(real) || `${homedir()}/`.startsWith(`${real}/`)) refuse("that would show far more than a project");
  if (INSIDE.some((folder) => real.startsWith(`${folder}/`))) refuse("devices and kernel files are not for a sandbox");
  if (TAKEN.includes(real)) refuse(`the sandbox has a ${real} of its own`);
  const status = statSync(real);
  if (!status.isDirectory() && !status.isFile()) refuse("it is neither a folder nor a file");
  if (mode === "rw" && !status.isDirectory()) refuse("only a folder can be mounted for writing");
  if (mode !== "ro" && mode !== "rw") refuse(`the mode is '${mode}', not 'ro' or 'rw'`);
  return real;
}
