// `rlm env add wasm`: downloads the Pyodide that this version is made for, checks it, and prepares it.
//
// npm's own client downloads the package, so the user's registry, proxy and credentials apply. The package is used only if its hash is
// the one in our source, and no script of it is run. It appears in the data folder whole or not at all.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { waitFor } from "../../util/async/wait-for.ts";
import type { SandboxOptions } from "../environment.ts";
import { buildImage } from "./guest-image.ts";
import {
  installedFolder,
  isPyodide,
  PYODIDE_FILES,
  PYODIDE_INTEGRITY,
  PYODIDE_VERSION,
  unavailable,
  wasmFolder,
} from "./pyodide.ts";
import { WasmEnvironment } from "./wasm.ts";

const run = promisify(execFile);
const DOWNLOAD_LIMIT_MS = 600_000;
const UNPACK_LIMIT_MS = 60_000;
const MAX_CHARACTERS = 300;
const SMOKE_TEST_LIMIT_MS = 60_000;
const MIB = 2 ** 20;
const SMOKE_TEST: SandboxOptions = {
  mounts: [],
  limits: { memoryBytes: 1024 * MIB, diskBytes: 64 * MIB, processes: 64, openFiles: 256, branches: 1 },
};

export interface InstallOptions {
  readonly onProgress?: ((text: string) => void) | undefined;
  /** Reinstalls it. Default: false. */
  readonly force?: boolean | undefined;
  /** The package: this file is used instead of downloading. */
  readonly package?: string | undefined;
}

/** Resolves to what was done: sentences without a full stop. Throws EnvironmentUnavailableError; then nothing was changed. */
export async function installWasm(options: InstallOptions = {}): Promise<readonly string[]> {
  const { onProgress = () => {}, force = false } = options;
  const target = installedFolder();
  const isThere = isPyodide(target);
  if (!isThere || force) await fetchInto(target, options);
  await buildImage(target, onProgress, force ? "again" : "check");
  onProgress("Starting a session");
  const environment = new WasmEnvironment({
    python: undefined,
    preload: [],
    poolSize: 0,
    poolOptions: SMOKE_TEST,
    onLessMemory: () => {},
  });
  try {
    await smokeTest(environment);
  } finally {
    await environment.close();
  }
  return [`Pyodide ${PYODIDE_VERSION} ${isThere && !force ? "was installed already" : "is installed"} in ${target}`];
}

/** Runs 1 + 1 in a session. Throws EnvironmentUnavailableError. */
async function smokeTest(environment: WasmEnvironment): Promise<void> {
  const sandbox = await environment.openSandbox(SMOKE_TEST);
  const { worker } = sandbox;
  const answer = new Promise<string>((done) => {
    let events = "";
    worker.listen({
      onEvents: (buffer, length) => {
        events += buffer.toString("utf8", 0, length);
        if (events.includes('"status"')) done(events);
      },
      onOutput: () => {},
      onBackground: () => {},
      onExit: () => done(events),
    });
  });
  worker.command(JSON.stringify({ id: "smoke-test", cmd: "exec", count: 1, code: "1 + 1" }));
  const hasAnswered = await waitFor(answer, SMOKE_TEST_LIMIT_MS);
  await sandbox.close();
  if (hasAnswered && (await answer).includes('"text/plain":"2"')) return;
  throw unavailable(
    "Python for WebAssembly is installed but cannot run code",
    "Run 'rlm doctor' to see what this machine offers",
  );
}

async function fetchInto(target: string, { onProgress = () => {}, package: file }: InstallOptions): Promise<void> {
  const temporary = mkdtempSync(join(wasmFolder(), "installing-"));
  try {
    const archive = file === undefined ? await download(temporary, onProgress) : resolve(file);
    const found = `sha512-${createHash("sha512").update(read(archive)).digest("base64")}`;
    if (found !== PYODIDE_INTEGRITY) {
      const why = `the package of Pyodide ${PYODIDE_VERSION} has the wrong hash: expected ${PYODIDE_INTEGRITY}, found ${found}`;
      const fix = `Download pyodide-${PYODIDE_VERSION}.tgz from the npm registry again`;
      throw unavailable(
        why,
        file === undefined ? "Check the npm registry that is configured, then install it again" : fix,
      );
    }
    onProgress("Unpacking");
    const unpacked = join(temporary, "unpacked");
    mkdirSync(unpacked);
    await run("tar", ["-xzf", archive, "-C", unpacked], { timeout: UNPACK_LIMIT_MS });
    const ready = join(temporary, "ready");
    mkdirSync(ready);
    for (const name of PYODIDE_FILES) copyFileSync(join(unpacked, "package", name), join(ready, name));
    rmSync(target, { recursive: true, force: true });
    renameSync(ready, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function read(archive: string): Buffer {
  try {
    return readFileSync(archive);
  } catch (error) {
    const why = `the package '${archive}' cannot be read: ${(error as NodeJS.ErrnoException).code}`;
    throw unavailable(why, `Pass the file pyodide-${PYODIDE_VERSION}.tgz of the npm registry`);
  }
}

/** The path of the archive. */
async function download(folder: string, onProgress: (text: string) => void): Promise<string> {
  onProgress(`Downloading Pyodide ${PYODIDE_VERSION} with npm (6 MB)`);
  const npm = ["pack", `pyodide@${PYODIDE_VERSION}`, "--ignore-scripts", "--silent", "--pack-destination", folder];
  try {
    await run("npm", npm, { cwd: folder, timeout: DOWNLOAD_LIMIT_MS });
  } catch (error) {
    const { code, stderr = "" } = error as { readonly code?: string | number; readonly stderr?: string };
    const why = code === "ENOENT" ? "npm is not on the PATH" : (stderr.trim().split("\n").at(-1) ?? "");
    const fix =
      "Check the connection to the npm registry, or download the package elsewhere and pass it with --package FILE";
    throw unavailable(`npm could not download Pyodide ${PYODIDE_VERSION}: ${why.slice(0, MAX_CHARACTERS)}`, fix);
  }
  const archive = join(folder, `pyodide-${PYODIDE_VERSION}.tgz`);
  if (existsSync(archive)) return archive;
  throw unavailable(`npm did not write pyodide-${PYODIDE_VERSION}.tgz`, "Update npm, then install it again");
}
