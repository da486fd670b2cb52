// The programs of the guest: beside the bundle in a built package, at the top of the source tree otherwise.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Undefined: a bundler put this code into another file, and left the folder behind. */
export function guestFolder(): string | undefined {
  const here = (import.meta as { readonly url?: string }).url;
  if (here === undefined) return undefined;
  return FOLDERS.map((path) => fileURLToPath(new URL(path, here))).find((folder) => existsSync(`${folder}/boot.cjs`));
}

const FOLDERS: readonly string[] = ["./wasm", "../../../wasm"];
