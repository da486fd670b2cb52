// A data folder for a run of the tests: nothing is left in the user's own, and nothing that is kept there answers a test.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { remove } from "./remove.ts";

/** Before the processes that run tests start: they inherit it. */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "rlm-tests-"));
  process.env["RLM_DATA"] = folder;
  return () => remove(folder);
}
