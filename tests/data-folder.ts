// A separate data folder for a test run: it leaves nothing in the user's own and reads nothing from it.

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
  return () => remove(folder);
}
