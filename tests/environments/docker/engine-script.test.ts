// Which engines `node scripts/docker-engine.mjs stop` ends. Programs that only record that they keep one take the place of engines.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { remove } from "../../remove.ts";

const LEFTOVERS = resolve("scripts/docker/leftovers.mjs");

test.skipIf(process.platform !== "linux")("ends those that were left running, and none of a test run", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-engines-"));
  onTestFinished(() => remove(folder));
  const env = { ...process.env, TMPDIR: folder };
  const [detached, ofTests] = [join(folder, "rlm-docker-one"), join(folder, "rlm-docker-two")];
  await keep(detached, { isDetached: true }, env);
  const keeper = await keep(ofTests, { isDetached: false }, env);
  await promisify(execFile)(process.execPath, ["scripts/docker-engine.mjs", "stop"], { env });
  expect([existsSync(detached), existsSync(ofTests)]).toEqual([false, true]);
  expect([keeper.exitCode, keeper.signalCode]).toEqual([null, null]);
});

async function keep(
  path: string,
  { isDetached }: { readonly isDetached: boolean },
  env: NodeJS.ProcessEnv,
): Promise<ChildProcess> {
  mkdirSync(path);
  const program = `
    import { rmSync } from "node:fs";
    import { record } from ${JSON.stringify(LEFTOVERS)};
    const folder = ${JSON.stringify(path)};
    record(folder, { isDetached: ${isDetached}, init: null, madeFolders: [] });
    process.once("SIGTERM", () => {
      rmSync(folder, { recursive: true });
      process.exit();
    });
    setInterval(() => {}, 60_000);
    process.stdout.write("recorded\\n");`;
  const keeper = spawn(process.execPath, ["--input-type=module", "-e", program], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void keeper.kill("SIGKILL"));
  await once(keeper.stdout, "data");
  return keeper;
}
