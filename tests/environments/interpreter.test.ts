// Which interpreter is started on the host, and which never is.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findInterpreter } from "../../src/environments/local/interpreter.ts";
import { NoTierError } from "../../src/environments/local/tier.ts";

const started = process.cwd();
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-interpreter-")));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(started);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** A program in the current folder, at this relative path. */
function plant(path: string): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  symlinkSync(process.execPath, whole);
  return whole;
}

test.each([
  ["", "nothing on the PATH"],
  [".", "the current folder"],
  [":/nowhere:", "empty entries, which mean the current folder"],
  ["bin:./bin:python3", "relative folders"],
])("a command name is not found in the current folder with the PATH '%s': %s", async (path) => {
  for (const name of ["python3", "bin/python3", "python3.99/bin/python3"]) plant(name);
  vi.stubEnv("PATH", path);
  for (const wanted of [undefined, "python3", "python3.99"]) {
    await expect(findInterpreter(wanted)).rejects.toThrow("there is no such program on the PATH");
  }
});

test("a folder named python3 is not taken for a virtual environment", async () => {
  plant("python3/bin/python3");
  vi.stubEnv("PATH", "");
  await expect(findInterpreter()).rejects.toThrow("there is no such program on the PATH");
});

test("a command name is found in the absolute folders of the PATH", async () => {
  const program = plant("programs/python3");
  vi.stubEnv("PATH", `.:${dirname(program)}`);
  expect(await findInterpreter()).toBe(program);
});

test.each(["./venv", ".venv", "venv/", "venv/bin/python3"])("a path may be relative: %s", async (wanted) => {
  const program = plant(wanted === ".venv" ? ".venv/bin/python3" : "venv/bin/python3");
  expect(await findInterpreter(wanted)).toBe(program);
});

test.each([
  ["is killed", "#!/bin/sh\nkill -9 $$\n", false],
  ["has no memory", "#!/bin/sh\necho MemoryError >&2; exit 1\n", false],
  ["fails without a word", "#!/bin/sh\nexit 1\n", false],
  ["has a first line that leads nowhere", "#!/nowhere/python3\n", true],
])(
  "a shim that %s is an error; only what is so at every start means that there is no Python",
  async (_, script, isSure) => {
    writeFileSync(join(folder, "python3"), script, { mode: 0o755 });
    vi.stubEnv("PATH", folder);
    const error = await findInterpreter().catch((failure: unknown) => failure);
    expect(error).toMatchObject({ why: expect.stringContaining("cannot be used: ") });
    expect(error instanceof NoTierError).toBe(isSure);
  },
);
