// What crosses the border of the environment: session files to and from `local` and packages.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime, PYTHON, valueOf } from "../../open.ts";
import { hasPyodide, installWasm } from "./open-wasm.ts";

describe.skipIf(!hasPyodide)("across the border of wasm", () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-test-"));
  let runtime: Runtime;
  beforeAll(async () => {
    installWasm();
    runtime = await openTestRuntime({ environment: "wasm", poolSize: 0 });
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a session is saved, and loaded in another one with its functions and classes", async () => {
    const path = join(folder, "wasm.rlm");
    await using source = await runtime.openSession();
    await source.execute("import math\nclass A:\n  def f(self): return math.floor(2.5)\nx = {'a': [A()]}").result;
    await source.save(path);
    await using target = await runtime.loadSession(path);
    expect(await valueOf(target, "x['a'][0].f()")).toBe("2");
  });

  test.each([
    ["local", "wasm"],
    ["wasm", "local"],
  ])("a session saved in %s by another version of Python is refused in %s, with both versions", async (from, to) => {
    const path = join(folder, `${from}-${to}.rlm`);
    await using source = await runtime.openSession({ environment: from });
    const version = await valueOf(source, "__import__('sys').version_info[:2]");
    if (version === "(3, 14)" && from === "local") return; // the same version: nothing to refuse
    await source.save(path);
    await expect(runtime.loadSession(path, { environment: to })).rejects.toThrow(
      /saved by Python 3\.\d+, and this session runs Python 3\.\d+/,
    );
  });

  test("packages come from a folder of wheels, and nowhere else", async () => {
    const wheels = join(folder, "wheels");
    mkdirSync(wheels);
    const make = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('greeting/__init__.py', 'text = "from a wheel"')
    wheel.writestr('greeting-1.0.dist-info/METADATA', 'Name: greeting')`;
    execFileSync(PYTHON, ["-c", make, join(wheels, "greeting-1.0-py3-none-any.whl")]);
    await using withWheels = await openTestRuntime({ environment: "wasm", poolSize: 0, wasm: { wheels } });
    await using session = await withWheels.openSession();
    expect(await valueOf(session, "import greeting; greeting.text")).toBe("'from a wheel'");
    await using without = await runtime.openSession();
    expect(await without.execute("import greeting").result).toMatchObject({ error: { name: "ModuleNotFoundError" } });
  });
});
