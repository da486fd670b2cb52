// Finds bubblewrap, the program that makes namespaces where this process may not (tier B).

import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute } from "node:path";

/** The step of a sandbox that fails if bubblewrap does. */
export const IN_BUBBLEWRAP = "start in bubblewrap";

/** Not PATH: whoever controls that would replace the walls. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin"];
const INSTALL = "Install bubblewrap, as root of the machine: apt install bubblewrap, or dnf install bubblewrap";
const WRITERS = 0o022;

export type Bubblewrap = { readonly path: string } | { readonly why: string; readonly fix: string };

/** The program, or why it cannot be used. RLM_BWRAP names another than the system's. */
export function findBubblewrap(named = process.env["RLM_BWRAP"], uid = process.getuid?.()): Bubblewrap {
  if (uid === 0) {
    return { why: "it is for ordinary users: root needs no other program", fix: "Start it as an ordinary user" };
  }
  if (named !== undefined && named !== "") return check(named);
  const path = FOLDERS.map((folder) => `${folder}/bwrap`).find(isExecutable);
  return path === undefined ? { why: "bubblewrap (bwrap) is not installed", fix: INSTALL } : check(path);
}

function check(path: string): Bubblewrap {
  const fix = "Set RLM_BWRAP to the absolute path of a bwrap that belongs to root, or unset it";
  if (!isAbsolute(path) || !isExecutable(path)) return { why: `'${path}' is no absolute path of a program`, fix };
  const { uid, mode } = statSync(path);
  if (uid !== 0 || (mode & WRITERS) !== 0) return { why: `'${path}' can be written by others than root`, fix };
  return { path };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
