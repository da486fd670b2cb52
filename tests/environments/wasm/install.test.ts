// `rlm env add wasm` without a network: the package comes from a file, or from a registry on this machine.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { Command } from "commander";
import { addEnv } from "../../../src/cli/env/commands.ts";
import { buildImage } from "../../../src/environments/wasm/guest-image.ts";
import { isWhole } from "../../../src/environments/wasm/image-check.ts";
import { installWasm } from "../../../src/environments/wasm/install.ts";
import { findPyodide, isPyodide, PYODIDE_VERSION } from "../../../src/environments/wasm/pyodide.ts";
import { dataPath } from "../../../src/util/data-folder.ts";
import { hasPackage, hasPyodide, PACKAGE, PYODIDE } from "./open-wasm.ts";

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

test("a package that cannot be read is refused, with what to pass", async () => {
  vi.stubEnv("RLM_DATA", join(scratch, "missing"));
  await expect(installWasm({ package: "/nowhere/pyodide.tgz" })).rejects.toMatchObject({
    why: "the package '/nowhere/pyodide.tgz' cannot be read: ENOENT",
    fix: `Pass the file pyodide-${PYODIDE_VERSION}.tgz of the npm registry`,
  });
});

test("a package with another content is refused, and nothing is left of it", async () => {
  vi.stubEnv("RLM_DATA", join(scratch, "forged"));
  const forged = join(scratch, "forged.tgz");
  writeFileSync(join(scratch, "x"), "x");
  execFileSync("tar", ["-czf", forged, "-C", scratch, "x"]);
  await expect(installWasm({ package: forged })).rejects.toThrow(/has the wrong hash: expected sha512-/);
  expect(readdirSync(dataPath("wasm"))).toEqual([]);
});

test.skipIf(!hasPyodide)("a file of Pyodide with another content is refused, wherever it was found", async () => {
  vi.stubEnv("RLM_DATA", join(scratch, "changed"));
  const changed = join(scratch, "node_modules", "pyodide");
  cpSync(PYODIDE, changed, { recursive: true });
  appendFileSync(join(changed, "pyodide.mjs"), "\n");
  expect(isPyodide(changed)).toBe(true); // by its names and its version
  await expect(buildImage(changed, () => {})).rejects.toMatchObject({
    environment: "wasm",
    why: expect.stringMatching(
      /node_modules\/pyodide\/pyodide\.mjs is not the file of Pyodide .* expected SHA-256 6f1d60/,
    ),
    fix: "Install it again with: rlm env add wasm --force",
  });
  expect(readdirSync(dataPath("wasm"))).toEqual([]);
});

describe.skipIf(!hasPackage)("with the package", { tags: "stress" }, () => {
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

  test("an image that is cut short, empty or changed is built again before a session starts", async () => {
    vi.stubEnv("RLM_DATA", join(scratch, "data"));
    const steps: string[] = [];
    const build = (): Promise<string> => buildImage(findPyodide(), (text) => void steps.push(text));
    const image = await build();
    expect(await isWhole(image)).toBe(true);
    const copy = join(scratch, "copy");
    for (const spoil of [
      () => truncateSync(copy, statSync(copy).size - 1),
      () => truncateSync(copy, 0),
      () => writeFileSync(copy, "other", { flag: "r+" }),
      () => rmSync(copy),
    ]) {
      copyFileSync(image, copy);
      expect(await isWhole(copy)).toBe(true);
      spoil();
      expect(await isWhole(copy)).toBe(false);
    }
    expect(steps).toEqual([]);
    truncateSync(image, 1000);
    expect(await build()).toBe(image);
    expect(steps).toEqual(["Preparing Python for WebAssembly"]);
    expect(await isWhole(image)).toBe(true);
  });

  test("rlm env add wasm installs it again with --force, from the file of --package", async () => {
    vi.stubEnv("RLM_DATA", join(scratch, "data"));
    const folder = join(dataPath("wasm"), `pyodide-${PYODIDE_VERSION}`);
    truncateSync(join(folder, "pyodide.asm.wasm"), 10);
    const lines: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => lines.push(String(text)) > 0);
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const program = new Command();
      addEnv(program);
      await program.parseAsync(["env", "add", "wasm", "--force", "--package", PACKAGE], { from: "user" });
    } finally {
      vi.restoreAllMocks();
    }
    expect(lines.join("")).toBe(`Pyodide ${PYODIDE_VERSION} is installed in ${folder}.\n`);
    expect(statSync(join(folder, "pyodide.asm.wasm")).size).toBeGreaterThan(1_000_000);
  });
});
