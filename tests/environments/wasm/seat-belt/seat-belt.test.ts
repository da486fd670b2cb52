// Where no tier can be had: the same contract behind Node's permission model, and every report says what that is.

import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { describeEnvironment, PLAIN } from "../../../contracts/environment.ts";
import { hasPyodide, openWasm, SEAT_BELT_CAPABILITIES } from "../open-wasm.ts";

/** The folders of sandboxes of this process. */
const folders = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`rlm-wasm-${process.pid}-`));

/** The working directory of a process. */
function folderOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

describe.skipIf(!hasPyodide)("wasm without a tier", () => {
  beforeAll(() => {
    process.env["RLM_SANDBOX_TIER"] = "seat-belt";
  });
  afterAll(() => {
    delete process.env["RLM_SANDBOX_TIER"];
  });

  describe("its contract", { tags: "stress" }, () => {
    describeEnvironment("wasm, seat belt", { open: () => openWasm(), capabilities: SEAT_BELT_CAPABILITIES });
  });

  test("the report says that it is a seat belt, not a wall, and how to get a stronger tier", async () => {
    await using environment = openWasm();
    await (await environment.openSandbox(PLAIN)).close();
    expect(environment.report()).toMatchObject({
      tier: "seat-belt",
      notStopped: expect.arrayContaining([expect.stringContaining("a seat belt, not a wall")]),
      strongerTier: { fix: "Unset RLM_SANDBOX_TIER" },
    });
  });

  test.each(["A", "a", "no-such-tier"])("a tier that is asked for, '%s', is never replaced by it", async (tier) => {
    process.env["RLM_SANDBOX_TIER"] = tier;
    await using environment = openWasm({ python: "/nowhere/python3" });
    await expect(environment.openSandbox(PLAIN)).rejects.toMatchObject({
      environment: "wasm",
      why: expect.stringMatching(/\/nowhere\/python3|asks for tier/),
    });
    process.env["RLM_SANDBOX_TIER"] = "seat-belt";
  });

  test("closing ends a sandbox that is being opened, and leaves nothing of it", async () => {
    const environment = openWasm();
    const opening = environment.openSandbox(PLAIN).catch((error: unknown) => error);
    await vi.waitUntil(() => folders().length > 0, { timeout: 60_000 }); // its process has started
    await environment.close();
    expect(folders()).toEqual([]);
    expect(await opening).toMatchObject({ environment: "wasm", why: "the runtime is closed" });
    await expect(environment.openSandbox(PLAIN)).rejects.toMatchObject({ why: "the runtime is closed" });
  });

  test("no sandbox waits where secrets are hidden, since it would show those that are created meanwhile", async () => {
    const project = mkdtempSync(join(tmpdir(), "rlm-test-"));
    onTestFinished(() => rmSync(project, { recursive: true }));
    const mounts = [{ path: project, mode: "ro", hideSecrets: true, isOptional: true }] as const;
    const options = { ...PLAIN, mounts };
    await using environment = openWasm({ poolSize: 1, poolOptions: options });
    await environment.warm();
    writeFileSync(join(project, ".env"), "KEY=secret");
    await (await environment.openSandbox(options)).close();
    expect(environment.report()).toMatchObject({
      waiting: 0,
      notMounted: [expect.stringContaining(`Sessions do not see ${project}`)],
    });
  });

  test("a sandbox of the pool whose worker has ended is closed, and another one is opened", async () => {
    await using environment = openWasm({ poolSize: 1 });
    await environment.warm();
    const [pooled = ""] = folders();
    const pid = Number(readdirSync("/proc").find((name) => folderOf(name).includes(pooled)));
    process.kill(pid, "SIGKILL");
    await vi.waitUntil(() => !existsSync(`/proc/${pid}`), { timeout: 20_000 });
    const sandbox = await environment.openSandbox(PLAIN);
    expect(sandbox.folder).not.toContain(pooled);
    await vi.waitUntil(() => !folders().includes(pooled), { timeout: 20_000 });
  });
});
