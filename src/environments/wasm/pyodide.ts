// The Pyodide that this version is made for: where it is, and what its package must be.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EnvironmentUnavailableError } from "../../errors.ts";
import { compiledCodeFolder } from "../../util/data-folder.ts";

export const PYODIDE_VERSION = "314.0.7";
/** The Python in it. */
export const PYODIDE_PYTHON = "3.14.2";
/** Hash of the package that npm downloads. */
export const PYODIDE_INTEGRITY =
  "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==";
/** The files of the package that are used. */
export const PYODIDE_FILES = [
  "package.json",
  "pyodide-lock.json",
  "pyodide.asm.mjs",
  "pyodide.asm.wasm",
  "pyodide.mjs",
  "python_stdlib.zip",
];
const ADD_WASM = "Install it with: rlm env add wasm";

/** The folder for what is installed and built. Throws EnvironmentUnavailableError where others could replace its files. */
export function wasmFolder(): string {
  const folder = compiledCodeFolder("wasm");
  if (folder !== undefined) return folder;
  const why = "the data folder cannot be used for code: another user can write to it or to a folder above it";
  throw unavailable(why, "Set RLM_DATA to a folder of your own that only you can write to");
}

/** Where `rlm env add wasm` puts it. */
export function installedFolder(): string {
  return join(wasmFolder(), `pyodide-${PYODIDE_VERSION}`);
}

/** The folder of Pyodide: installed by us, or a package of the same version beside ours. Throws EnvironmentUnavailableError. */
export function findPyodide(): string {
  const installed = installedFolder();
  if (isPyodide(installed)) return installed;
  const peer = findPeer();
  if (peer !== undefined) return peer;
  throw unavailable(`Python for WebAssembly (Pyodide ${PYODIDE_VERSION}) is not installed`, ADD_WASM);
}

/** Whether the folder has the files of the version that we need. */
export function isPyodide(folder: string): boolean {
  if (!PYODIDE_FILES.every((name) => existsSync(join(folder, name)))) return false;
  try {
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: unknown };
    return version === PYODIDE_VERSION;
  } catch {
    return false;
  }
}

export function unavailable(why: string, fix: string): EnvironmentUnavailableError {
  return new EnvironmentUnavailableError({ environment: "wasm", why, fix });
}

/** As Node finds a package from here: in the nearest `node_modules`. */
function findPeer(): string | undefined {
  const here = (import.meta as { readonly url?: string }).url;
  let folder = here === undefined ? undefined : dirname(fileURLToPath(here));
  while (folder !== undefined) {
    const peer = join(folder, "node_modules", "pyodide");
    if (isPyodide(peer)) return peer;
    folder = folder === dirname(folder) ? undefined : dirname(folder);
  }
  return undefined;
}
