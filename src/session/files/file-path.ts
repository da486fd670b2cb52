// Checks paths of session files. Plain mistakes are refused here; links are resolved inside the sandbox.

import { REPLSecurityError } from "../../errors.ts";
import { byteLength } from "../../util/bytes/byte-length.ts";

export interface PathContext {
  /** For messages. */
  readonly action: string;
  /** The working directory, as code in the session sees it. */
  readonly folder: string;
  readonly environment: string;
}

const MAX_PATH_BYTES = 4095;
/** Lone surrogates, except those that stand for a byte (surrogateescape). */
const BROKEN = /[\uD800-\uDC7F\uDD00-\uDFFF]/u;

/** The path relative to the working directory. Throws TypeError, RangeError or REPLSecurityError. */
export function toInnerPath(path: unknown, { action, folder, environment }: PathContext): string {
  if (typeof path !== "string") throw new TypeError(`Cannot ${action} a ${typeof path}: the path must be a string`);
  if (path === "" || byteLength(path) > MAX_PATH_BYTES || BROKEN.test(path)) {
    throw new RangeError(`Cannot ${action} '${path.slice(0, 100)}': the path is empty, too long or not valid text`);
  }
  const refuse = (why: string): REPLSecurityError => new REPLSecurityError({ action, target: path, environment, why });
  if (path.includes("\0")) throw refuse("the path holds a NUL byte");
  let inner = path;
  if (path.startsWith("/")) {
    if (path !== folder && !path.startsWith(`${folder}/`)) throw refuse(`it is not below ${folder}`);
    inner = `.${path.slice(folder.length)}`;
  }
  if (leaves(inner)) throw refuse("it leads out of the working directory");
  return inner;
}

function leaves(path: string): boolean {
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
