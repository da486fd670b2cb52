// A data folder for programs and runtimes of one test.
//
// What Python compiles of ours goes to the folder that all tests have. Otherwise every folder would be filled anew, half a
// second of work, and by processes that may still write when their program has been killed and its folder goes.

import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataPath } from "../src/util/data-folder.ts";

const COMPILED = "python-cache";
const compiled = dataPath(COMPILED);

/** The folder, made where it is not there; without a path, one in the temporary folder. */
export function makeDataFolder(path: string = mkdtempSync(join(tmpdir(), "rlm-data-"))): string {
  for (const folder of [compiled, path]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const link = join(path, COMPILED);
  if (!existsSync(link)) symlinkSync(compiled, link);
  return path;
}
