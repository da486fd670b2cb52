// A data folder for the programs and runtimes of one test.
//
// All tests share what is compiled of the worker and of the program, and Pyodide with its image. Otherwise each would compile them again,
// half a second of work, or make the image, and a process could still write its cache while its folder is being removed.

import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataPath } from "../src/util/data-folder.ts";

const CACHES = ["python-cache", "code-cache", "wasm"];

/** Creates the folder if needed. Default: one in the temporary folder. */
export function makeDataFolder(path: string = mkdtempSync(join(tmpdir(), "rlm-data-"))): string {
  for (const name of CACHES) {
    const cache = dataPath(name);
    for (const folder of [cache, path]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const link = join(path, name);
    if (!existsSync(link)) symlinkSync(cache, link);
  }
  return path;
}
