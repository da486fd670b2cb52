// The built program with clients that we did not write. The scripts say what they check. The set-up of the tests fetches
// the clients; where it could not, the reason is printed and the test skipped.

import { expect, test } from "vitest";
import { Program } from "./program.ts";

/** How the scripts end where there is no such client, as opposed to one that found a fault. */
const UNAVAILABLE = 75;

test.for(["inspector", "conformance"])(
  "the official %s finds what it should",
  { timeout: 180_000 },
  async (name, { skip }) => {
    const script = new URL(`../../scripts/mcp/${name}.mjs`, import.meta.url).pathname;
    const { code, stdout, stderr } = await new Program(process.execPath, [script, "--offline"]).ended;
    if (code === UNAVAILABLE) return skip(stdout);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.not.stringContaining("FAILED"), stderr: "" });
  },
);
