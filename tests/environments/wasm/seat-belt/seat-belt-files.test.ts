// Files of sessions behind the seat belt: what the permission model of Node refuses fails in Python, and mounts have names.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Runtime, Session } from "../../../internals.ts";
import { openTestRuntime, valueOf } from "../../../open.ts";
import { hasPyodide, installWasm } from "../open-wasm.ts";

describe.skipIf(!hasPyodide)("files behind the seat belt", () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-test-"));
  let runtime: Runtime;
  let session: Session;
  beforeAll(async () => {
    installWasm();
    vi.stubEnv("RLM_SANDBOX_TIER", "seat-belt");
    for (const name of ["ro", "rw"]) mkdirSync(join(folder, name));
    mkdirSync(join(folder, "ro", "sub"));
    writeFileSync(join(folder, "ro", "f"), "shared");
    runtime = await openTestRuntime({ environment: "wasm", poolSize: 0 });
    session = await runtime.openSession({
      mounts: (["ro", "rw"] as const).map((mode) => ({ path: join(folder, mode), mode })),
    });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    "open(V + '/new', 'w')",
    "open(V + '/f', 'a')",
    "os.open(V + '/f', os.O_RDWR)",
    "os.unlink(V + '/f')",
    "os.mkdir(V + '/new')",
    "os.rmdir(V + '/sub')",
    "os.rename(V + '/f', V + '/g')",
    "os.chmod(V + '/f', 0o600)",
    "os.truncate(V + '/f', 0)",
    "os.utime(V + '/f', (1, 1))",
    "os.symlink('/etc/passwd', V + '/link')",
    "os.symlink('/etc/passwd', 'link')",
  ])("a read-only mount cannot be changed, and code is told: %s", async (code) => {
    const result = await session.execute(`import os; V = '${folder}/ro'; ${code}`).result;
    expect(result).toMatchObject({ status: "error", error: { name: "PermissionError" } });
    expect(readdirSync(join(folder, "ro"))).toEqual(["f", "sub"]);
    expect(readFileSync(join(folder, "ro", "f"), "utf8")).toBe("shared");
  });

  test("mounts have names in the working directory, which the host does not follow", async () => {
    expect(await valueOf(session, "open('ro/f').read(), open('rw/g', 'w').write('x')")).toBe("('shared', 1)");
    expect(readFileSync(join(folder, "rw", "g"), "utf8")).toBe("x");
    await expect(session.files.read("ro/f")).rejects.toMatchObject({ name: "REPLSecurityError" });
    expect((await session.files.stat("ro")).type).toBe("link");
  });

  test("watching is refused by name, with what to do instead", async () => {
    await expect(session.files.watch()).rejects.toMatchObject({
      name: "CapabilityMissingError",
      capability: "watch",
      environment: "wasm",
      message: expect.stringContaining("List the folder again, and compare sizes and times"),
    });
  });

  test("files are listed to any depth, and removed with all that is in them", async () => {
    await session.files.write("d/e/f", "x");
    await session.files.write("d/g", "y");
    const { entries } = await session.files.list("d", { depth: 3 });
    expect(entries.map(({ path, type }) => `${path} ${type}`)).toEqual(["d/e folder", "d/e/f file", "d/g file"]);
    await session.files.remove("d");
    expect(await session.files.exists("d")).toBe(false);
    expect(await valueOf(session, "os.path.exists('d')")).toBe("False");
  });
});
