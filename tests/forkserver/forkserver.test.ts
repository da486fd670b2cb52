// The fork server's own tests, written in Python beside this file.
//
// To run them without this: python3 -m unittest discover -s tests/forkserver
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { python } from "../hostile/machine.ts";

const files = readdirSync(import.meta.dirname).filter((name) => /^test.*\.py$/.test(name));

test.each(files)("%s", async (file) => {
  const unittest = spawn(python, ["-B", "-m", "unittest", "discover", "-s", import.meta.dirname, "-p", file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [report, [code]] = await Promise.all([text(unittest.stderr), once(unittest, "exit")]);
  expect({ code, report }).toEqual({ code: 0, report: expect.stringMatching(/^Ran [1-9]/m) as string });
});
