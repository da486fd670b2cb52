// What the host mounts below a folder of a session while that is open. Most machines share mounts between namespaces.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openTestRuntime } from "../../open.ts";
import { skipInTierC } from "../../tier.ts";

beforeEach((context) => skipInTierC(context, "its sessions have no mounts"));

const folder = mkdtempSync(join(tmpdir(), "later-mounts-"));
const canMount = spawnSync("mount", ["-t", "tmpfs", "tmpfs", folder]).status === 0;

describe.skipIf(!canMount)(`a mount of the host${canMount ? "" : " (this user cannot mount)"}`, () => {
  beforeAll(() => void execFileSync("mount", ["--make-shared", folder]));
  afterAll(() => void execFileSync("umount", ["--recursive", folder]));

  test.each(["ro", "rw"] as const)("that is made below a folder mounted %s does not appear there", async (mode) => {
    const [shown, below] = [join(folder, mode), join(folder, mode, "below")];
    mkdirSync(below, { recursive: true });
    await using runtime = await openTestRuntime({ poolSize: 0 });
    const session = await runtime.openSession({ mounts: [{ path: shown, mode }] });
    execFileSync("mount", ["-t", "tmpfs", "-o", "mode=1777", "tmpfs", below]);
    writeFileSync(join(below, "secret"), "");
    const listed = await session.execute(`import os; os.listdir(${JSON.stringify(below)})`).result;
    expect(listed.value).toEqual({ "text/plain": "[]" });
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));
