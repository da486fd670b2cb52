// `rlm env add wasm` without a network: the package comes from a file, or from a registry on this machine.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { installWasm } from "../../../src/environments/wasm/install.ts";
import { findPyodide, PYODIDE_VERSION } from "../../../src/environments/wasm/pyodide.ts";
import { dataPath } from "../../../src/util/data-folder.ts";
import { hasPackage, PACKAGE } from "./open-wasm.ts";

const scratch = mkdtempSync(join(tmpdir(), "rlm-test-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

test("the optional peer package is the version that is installed", () => {
  const { peerDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { peerDependencies: object };
  expect(peerDependencies).toEqual({ pyodide: PYODIDE_VERSION });
});

test("without it, the error says how to install it", () => {
  vi.stubEnv("RLM_DATA", join(scratch, "empty"));
  expect(() => findPyodide()).toThrow(
    expect.objectContaining({ environment: "wasm", fix: "Install it with: rlm env add wasm" }),
  );
});

test("a package with another content is refused, and nothing is left of it", async () => {
  vi.stubEnv("RLM_DATA", join(scratch, "forged"));
  const forged = join(scratch, "forged.tgz");
  writeFileSync(join(scratch, "x"), "x");
  execFileSync("tar", ["-czf", forged, "-C", scratch, "x"]);
  await expect(installWasm({ package: forged })).rejects.toThrow(/is not the one that this version expects/);
  expect(readdirSync(dataPath("wasm"))).toEqual([]);
});

describe.skipIf(!hasPackage)("with the package", () => {
  test("installs it, makes the snapshot, and runs a session; a second time nothing is left to do", async () => {
    vi.stubEnv("RLM_DATA", join(scratch, "data"));
    const steps: string[] = [];
    const onProgress = (text: string): void => void steps.push(text);
    const folder = join(dataPath("wasm"), `pyodide-${PYODIDE_VERSION}`);
    expect((await installWasm({ package: PACKAGE, onProgress })).join()).toContain("is installed in");
    expect(steps).toEqual(["Unpacking", "Preparing Python for WebAssembly", "Starting a session"]);
    expect(existsSync(join(folder, "pyodide.asm.wasm"))).toBe(true);
    expect(readdirSync(dataPath("wasm")).filter((name) => /^(?:installing|making)-/.test(name))).toEqual([]);
    expect((await installWasm({ package: PACKAGE })).join()).toContain("was installed already");
  });
});
