// Tier C cannot hide a file in a folder that it shows, so it shows no folder by itself that holds secrets.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openTestRuntime } from "../../open.ts";
import { connect } from "../../server/mcp/connect.ts";
import { toMounts } from "../../../src/server/mcp/calls/host-paths.ts";

let folder: string;
beforeAll(() => {
  vi.stubEnv("RLM_SANDBOX_TIER", "C");
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tier-c-secrets-")));
  writeFileSync(join(folder, "readme"), "plain");
  writeFileSync(join(folder, ".env"), "SECRET=x");
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test("the project folder of an MCP server is left out if it holds secrets, and its client and its log are told once", async () => {
  const logged: string[] = [];
  const onWarning = (sentence: string): void => void logged.push(sentence);
  await using connection = await connect({ mounts: toMounts(folder, []), onWarning });
  const code = `open(${JSON.stringify(join(folder, "readme"))})`;
  const first = JSON.stringify(await connection.call("execute_python", { code }));
  expect(first).toContain("PermissionError");
  expect(first).toContain(
    `Sessions do not see ${folder}: it holds secrets (.env), which this tier of the sandbox cannot hide`,
  );
  expect(await connection.text("execute_python", { code: "1" })).not.toContain("Sessions do not see");
  expect(logged).toHaveLength(1);
});

test("one that the user asks for is refused, with what to do", async () => {
  await using runtime = await openTestRuntime({ poolSize: 0 });
  const mounts = [{ path: folder, mode: "ro", hideSecrets: true } as const];
  await expect(runtime.openSession({ mounts })).rejects.toThrow(
    `it holds secrets (.env), which this tier of the sandbox cannot hide. Mount a part of it, or all of it as it is with --mount ${folder}`,
  );
});
