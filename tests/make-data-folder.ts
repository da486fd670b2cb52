// A data folder for the programs and runtimes of one test.
//
// All tests share one bytecode cache. Otherwise each would compile the worker again, half a second of work, and a
// process could still write its cache while its folder is being removed.

import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataPath } from "../src/util/data-folder.ts";

const COMPILED = "python-cache";
const compiled = dataPath(COMPILED);

/** Creates the folder if needed. Default: one in the temporary folder. */
export function makeDataFolder(path: string = mkdtempSync(join(tmpdir(), "rlm-data-"))): string {
  for (const folder of [compiled, path]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const link = join(path, COMPILED);
  if (!existsSync(link)) symlinkSync(compiled, link);
  return path;
}
