// Our Python code: beside the bundle in a built package, at the top of the source tree otherwise.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Undefined: it is not where it should be. A bundler put this code into another file, and left the folder behind. */
export function pythonFolder(): string | undefined {
  // Bundlers that make CommonJS leave no URL. The path is a variable, so that none of them takes the folder for a module.
  const here = (import.meta as { readonly url?: string }).url;
  if (here === undefined) return undefined;
  return FOLDERS.map((path) => fileURLToPath(new URL(path, here))).find((folder) =>
    existsSync(`${folder}/forkserver/__main__.py`),
  );
}

const FOLDERS: readonly string[] = ["./python", "../../python"];
