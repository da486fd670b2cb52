// Pyodide for tests: `node scripts/setup.mjs test` puts it into the cache. Each file of tests has a data folder of its own, so it gets a
// link to it. Nothing is downloaded here. Without it, tests skip and say why; with RLM_REQUIRE_WASM=1 they fail.

import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import type { EnvironmentOptions } from "../../../src/environments/environment.ts";
import type { Machine } from "../../../src/environments/local/local.ts";
import { PYODIDE_VERSION } from "../../../src/environments/wasm/pyodide.ts";
import { WasmEnvironment } from "../../../src/environments/wasm/wasm.ts";
import type { Capabilities } from "../../../src/protocol/capabilities.ts";
import { dataPath } from "../../../src/util/data-folder.ts";
import { PLAIN } from "../../contracts/environment.ts";
import { PYTHON } from "../../open.ts";

export const PYODIDE = resolve("node_modules/.cache/rlm", `pyodide-${PYODIDE_VERSION}`);
export const NO_PYODIDE = "Pyodide is not in the cache: node scripts/setup.mjs test";
/** The package as npm downloads it. */
export const PACKAGE = resolve("node_modules/.cache/rlm", `pyodide-${PYODIDE_VERSION}.tgz`);
export const hasPackage = existsSync(PACKAGE);
export const hasPyodide = existsSync(join(PYODIDE, "pyodide.asm.wasm"));
if (!hasPyodide || !hasPackage) {
  if (process.env["RLM_REQUIRE_WASM"] === "1") throw new Error(`RLM_REQUIRE_WASM is set, and ${NO_PYODIDE}`);
  process.stdout.write(`Skipped, tests with wasm: ${NO_PYODIDE}\n`);
}

export const WASM_CAPABILITIES: Capabilities = {
  fork: false,
  checkpoint: false,
  shell: false,
  processes: false,
  threads: false,
  watch: true,
  inspectWhileRunning: false,
  network: "none",
  packages: "wheels",
  languages: ["python"],
};

/** As `rlm env add wasm` leaves it. */
export function installWasm(): void {
  const folder = dataPath("wasm");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const link = join(folder, `pyodide-${PYODIDE_VERSION}`);
  try {
    symlinkSync(PYODIDE, link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another file of tests has made it
  }
}

/** Behind the seat belt. */
export const SEAT_BELT_CAPABILITIES: Capabilities = { ...WASM_CAPABILITIES, watch: false };

/** Installs it. Returns why that is not possible, if so. */
export async function useWasm(): Promise<string | undefined> {
  if (!hasPyodide) return NO_PYODIDE;
  installWasm();
  return undefined;
}

export function openWasm(options: Partial<EnvironmentOptions> = {}, machine?: Machine): WasmEnvironment {
  installWasm();
  const usual = { python: PYTHON, preload: [], poolSize: 0, poolOptions: PLAIN, onLessMemory: () => {} };
  return new WasmEnvironment({ ...usual, ...options }, machine);
}
