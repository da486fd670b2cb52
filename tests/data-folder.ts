// The surroundings of a test run: its own data folder, so that it leaves nothing in the user's and reads nothing from it, and no preloading.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { remove } from "./remove.ts";

/** Runs before the test processes start, which inherit the variable. */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "rlm-tests-"));
  process.env["RLM_DATA"] = folder;
  // Reading the certificates costs each Node 40 ms, hundreds of times, and tests connect to this machine alone.
  delete process.env["NODE_EXTRA_CA_CERTS"];
  // Importing numpy and pandas takes half a second for each server. The tests of preloading ask for it.
  process.env["RLM_PRELOAD"] = "none";
  return () => remove(folder);
}
