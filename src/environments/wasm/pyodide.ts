// The Pyodide that this version is made for: where it is, and what its package must be.

import { createHash } from "node:crypto";
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
/** Of the files in it that an image is made of: SHA-256. */
const HASHES: Readonly<Record<string, string>> = {
  "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
  "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
  "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
  "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
  "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
};
/** The files of the package that are used. */
export const PYODIDE_FILES: readonly string[] = ["package.json", ...Object.keys(HASHES)];
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

/** Throws EnvironmentUnavailableError for a folder of the right version with other content. It reads 14 MB. */
export function checkPyodide(folder: string): void {
  for (const [name, expected] of Object.entries(HASHES)) {
    const path = join(folder, name);
    const found = hashOf(path);
    if (found === expected) continue;
    const why = `${path} is not the file of Pyodide ${PYODIDE_VERSION}: expected SHA-256 ${expected}, found ${found}`;
    throw unavailable(why, "Install it again with: rlm env add wasm --force");
  }
}

function hashOf(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch (error) {
    return `a file that cannot be read (${(error as NodeJS.ErrnoException).code})`;
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
