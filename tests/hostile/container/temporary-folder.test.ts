// Tier C has no /tmp for each session. Code that uses it by name is told what to use instead.

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;

beforeAll(async () => {
  vi.stubEnv("RLM_SANDBOX_TIER", "C");
  runtime = await openTestRuntime();
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
});

test("an error for a path in /tmp names the folder to use, which can be written", async () => {
  await using session = await runtime.openSession();
  const { error } = await session.execute("open('/tmp/result.csv', 'w')").result;
  const own = /gettempdir\(\): (\S+)\n$/u.exec(error?.traceback ?? "")?.[1] ?? "";
  const { stdout } = await session.execute(
    `import tempfile; print(tempfile.gettempdir() == "${own}", open("${own}/result.csv", "w").write("ok"))`,
  ).result;
  expect(stdout).toBe("True 2\n");
});

test.each(["open('/etc/shadow')", "open('/tmp/none/of/it')", "raise PermissionError(13, 'No', ['/tmp/x'])"])(
  "no other error: %s",
  async (code) => {
    await using session = await runtime.openSession();
    const { error } = await session.execute(code).result;
    expect(error?.traceback).toMatch(/Error: \[Errno \d+\] .*\n$/u);
    expect(error?.traceback).not.toContain("gettempdir");
  },
);
