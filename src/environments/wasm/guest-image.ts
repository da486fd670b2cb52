// The image of the guest: Pyodide, our programs, and a memory snapshot in which the worker is imported already (wasm/build.cjs).
//
// It is built once for each version of Pyodide and of our code, and kept in the data folder, where nobody else may write: it is code. One
// that is not whole is built again.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { GuestProgram } from "../local/fork-server.ts";
import { pythonFolder } from "../python-folder.ts";
import { KEEP_PYTHON_FOLDER, NO_PYTHON_FOLDER } from "../local/tier.ts";
import { guestFolder } from "./guest-folder.ts";
import { checkedPath, isWhole } from "./image-check.ts";
import { nodeFiles } from "./node-files.ts";
import { checkPyodide, findPyodide, PYODIDE_VERSION, unavailable, wasmFolder } from "./pyodide.ts";

const run = promisify(execFile);
const BUILD_LIMIT_MS = 120_000;
const MAX_CHARACTERS = 300;
/**
 * Flags of every process of the guest: V8 takes compiled code only with the flags that it was compiled with. Code that reaches JavaScript
 * cannot make more of it from text. The stack is that of the Python thread (wasm/main.cjs, seat-belt/large-stack.ts).
 */
const FLAGS = [
  "--no-warnings",
  "--disallow-code-generation-from-strings",
  "--max-old-space-size=256",
  "--stack-size=262144",
  "--wasm-tiering-budget=30000000",
];
/** Flags of a session. Those added here are not V8's. From Node 24 on `fetch` cannot be left out, and is removed later (wasm/hardening.cjs). */
const SESSION_FLAGS = [...FLAGS, ...["--no-addons", "--no-experimental-fetch"].filter(isFlag)];
/** Images of other versions of V8 that are kept. */
const MAX_KEPT = 3;

/** One build at a time in this process; others wait for it. */
const building = new Map<string, Promise<void>>();

/** The program of a session. Builds its image if there is none yet. Throws EnvironmentUnavailableError. */
export async function prepareGuest(onProgress: (text: string) => void, wheels: string | null): Promise<GuestProgram> {
  const { guest } = requireFolders();
  const image = await buildImage(findPyodide(), onProgress);
  const program = { node: process.execPath, flags: SESSION_FLAGS, boot: bootSource(guest), files: nodeFiles() };
  return { ...program, image, wheels: toRealPath(wheels) };
}

/**
 * The path of the image for this Pyodide and our code. Builds it if there is none, or none that is whole, and removes those of other
 * versions. "check" checks an image again that was checked before; "again" builds it in any case.
 */
export async function buildImage(
  pyodide: string,
  onProgress: (text: string) => void,
  how: "usual" | "check" | "again" = "usual",
): Promise<string> {
  const { guest, python } = requireFolders();
  const folder = wasmFolder();
  const version = `image-${PYODIDE_VERSION}-${hashOf([guest, join(python, "worker")])}-`;
  const path = join(folder, `${version}${process.versions.v8}`);
  let build = building.get(path);
  if (build === undefined) {
    if (how !== "again" && (await isWhole(path, how === "check"))) return path;
    build = building.get(path);
  }
  if (build === undefined) {
    onProgress("Preparing Python for WebAssembly");
    build = make({ pyodide, guest, python, path }).finally(() => building.delete(path));
    building.set(path, build);
  }
  await build;
  removeOthers(folder, version);
  return path;
}

/** Removes the images of other versions of our code, and the oldest of this one. */
function removeOthers(folder: string, version: string): void {
  const paths = readdirSync(folder).filter((name) => /^image-.*(?<!\.checked)$/.test(name));
  const age = (name: string): number => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const [ours, others] = [true, false].map((isOurs) => paths.filter((name) => name.startsWith(version) === isOurs));
  const oldest = (ours ?? []).toSorted((a, b) => age(b) - age(a)).slice(MAX_KEPT);
  for (const name of [...(others ?? []), ...oldest]) {
    for (const path of [join(folder, name), checkedPath(join(folder, name))]) rmSync(path, { force: true });
  }
}

async function make(from: { pyodide: string; guest: string; python: string; path: string }): Promise<void> {
  checkPyodide(from.pyodide);
  const script = [join(from.guest, "build.cjs"), from.pyodide, from.python, from.path];
  try {
    await run(process.execPath, [...FLAGS, ...script], { env: {}, timeout: BUILD_LIMIT_MS, killSignal: "SIGKILL" });
  } catch (error) {
    const { stderr = "" } = error as { readonly stderr?: string };
    const reason = (/^\w*Error: .*$/m.exec(stderr)?.[0] ?? stderr.trim().split("\n").at(-1))?.slice(0, MAX_CHARACTERS);
    const why = `the memory snapshot of Python could not be created: ${reason || "it timed out"}`;
    throw unavailable(why, "Install it again with: rlm env add wasm --force");
  }
}

function isFlag(flag: string): boolean {
  return process.allowedNodeEnvironmentFlags.has(flag);
}

/** As sessions see it: mounts are at their real paths. */
function toRealPath(folder: string | null): string | null {
  return folder !== null && existsSync(folder) ? realpathSync(folder) : folder; // a mount that does not exist is refused later
}

function requireFolders(): { readonly guest: string; readonly python: string } {
  const [guest, python] = [guestFolder(), pythonFolder()];
  if (guest === undefined || python === undefined) throw unavailable(NO_PYTHON_FOLDER, KEEP_PYTHON_FOLDER);
  return { guest, python };
}

/** Without comments: it is an argument of a process. */
function bootSource(guest: string): string {
  return readFileSync(join(guest, "boot.cjs"), "utf8").replaceAll(/^\/\/.*\n/gm, "");
}

function hashOf(folders: readonly string[]): string {
  const hash = createHash("sha256");
  for (const folder of folders) {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.(?:c?js|py)$/.test(name),
    );
    for (const name of files.toSorted()) hash.update(`${name}\0`).update(readFileSync(join(folder, name)));
  }
  return hash.digest("hex").slice(0, 16);
}
