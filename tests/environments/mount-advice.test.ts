// What is said about a mount that is refused after its path was checked: each case is made, and the advice fits it.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ForkServer } from "../../src/environments/local/fork-server.ts";
import { LocalSandbox } from "../../src/environments/local/local-sandbox.ts";
import { resolveMounts } from "../../src/environments/mounts.ts";
import { PYTHON } from "../open.ts";
import { skipInTierC, TIER } from "../tier.ts";

const base = mkdtempSync(join(tmpdir(), "mount-advice-"));
const limits = { memoryBytes: 2 ** 28, diskBytes: 2 ** 24, processes: 32, openFiles: 128, branches: 1 };
let server: ForkServer;

beforeAll(async () => {
  const options = { executable: PYTHON, preload: [], cacheFolder: undefined, tier: TIER === "C" ? "C" : "A" } as const;
  server = await ForkServer.start(options, new AbortController().signal);
});
afterAll(async () => {
  await server?.close();
  rmSync(base, { recursive: true, force: true });
});

const refusal = (path: string): Promise<unknown> =>
  LocalSandbox.open(server, { mounts: [{ path, mode: "ro" }], limits }).then(
    () => "it worked",
    (error: unknown) => String(error),
  );

test("a path that was removed", async () => {
  expect(await refusal(join(base, "gone"))).toMatch(/No such file.*was removed or renamed/);
});

test("a path whose parent has become a file", async () => {
  writeFileSync(join(base, "file"), "");
  expect(await refusal(join(base, "file/inside"))).toMatch(/Not a directory.*was removed or renamed/);
});

test("a path that was replaced by a link", async () => {
  symlinkSync("/usr", join(base, "link"));
  expect(await refusal(join(base, "link"))).toMatch(/symbolic link.*mount the folder that the link leads to/);
});

test("a file system that cannot be mounted elsewhere (skipped where this user cannot mount)", async (context) => {
  skipInTierC(context, "it mounts nothing, so it can show any folder");
  const folder = join(base, "unbindable");
  mkdirSync(folder);
  if (spawnSync("mount", ["-t", "tmpfs", "tmpfs", folder]).status !== 0) return context.skip();
  try {
    execFileSync("mount", ["--make-unbindable", folder]);
    expect(await refusal(folder)).toMatch(/Invalid argument.*copy the folder and mount the copy/);
  } finally {
    spawnSync("umount", [folder]);
  }
});

test("a path that cannot be resolved", () => {
  symlinkSync("circle", join(base, "circle"));
  const why = (name: string) => () => resolveMounts([{ path: join(base, name), mode: "ro" }], "local");
  expect(why("circle")).toThrow("its links lead in a circle");
  expect(why("nowhere")).toThrow("it does not exist");
});
