import { expect, test } from "vitest";
import { programName } from "../../../src/cli/io/program-name.ts";

test.each([
  ["/usr/local/bin/rlm", "rlm"],
  ["/home/me/.npm/_npx/1a2b/node_modules/.bin/rlm", "npx rlm-runtime"],
  ["/home/me/app/node_modules/.bin/rlm", "npx rlm"],
  ["/home/me/rlm/dist/cli.cjs", "node dist/cli.cjs"],
  ["/srv/rlm/dist/cli.cjs", "node /srv/rlm/dist/cli.cjs"],
  ["/srv/it's/cli.js", String.raw`node '/srv/it'\''s/cli.js'`],
])("a program started as %s is started again with %s", (script, expected) => {
  expect(programName(script, "/home/me/rlm")).toBe(expected);
});
