// Prepares a fresh clone, so that `npm start` and `npm test` need no other step.
//
//   node scripts/setup.mjs [build] [test]      build: update dist/     test: also install what only tests need
//
// Runs on a plain Node with nothing installed. Every step checks first, so a second run is fast. Packages that cannot be
// installed from here are named with the command that installs them; only a missing requirement is a failure.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packagesInstalled, runWithProgress } from "./install-progress.mjs";

const debianPython = "/usr/bin/python3";
/** Libraries that sessions have special support for: module and Debian package. */
const TESTED_MODULES = {
  numpy: "python3-numpy",
  pandas: "python3-pandas",
  matplotlib: "python3-matplotlib",
  PIL: "python3-pil",
};
/** Programs that the documents show and tests run; Debian's packages have the same names. */
const TESTED_COMMANDS = ["curl"];
/** Programs that tests use if they are there, and their Debian packages. */
const TESTED_PROGRAMS = {
  "/usr/bin/newuidmap": "uidmap",
  "/usr/bin/strace": "strace",
  "/usr/bin/bwrap": "bubblewrap",
  "/usr/bin/ps": "procps",
  "/usr/bin/tmux": "tmux",
  // About 95 MB to download. It brings a font along.
  "/usr/bin/chromium-headless-shell": "chromium-headless-shell",
};
/** For a private Docker engine, where this machine can have one: about 280 MB. On others the package would only start a service. */
const ENGINE_PROGRAMS = { dockerd: "docker.io", "docker-registry": "docker-registry" };
const stamps = join("node_modules", ".cache", "rlm");

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const words = new Set(process.argv.slice(2));
requireNode();
await installNodePackages();
await installDebianPackages();
if (words.has("test")) downloadPyodide();
if (words.has("build")) build();

function requireNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Node.js 20.19 or newer is needed, this is ${process.version}: install it from https://nodejs.org`);
}

/** Puts the Python of the `wasm` environment into the cache. Tests of it are skipped without it. */
function downloadPyodide() {
  const source = readFileSync("src/environments/wasm/pyodide.ts", "utf8");
  const version = /PYODIDE_VERSION = "([^"]*)"/.exec(source)?.[1];
  const integrity = /"(sha512-[^"]*)"/.exec(source)?.[1];
  const folder = join(stamps, `pyodide-${version}`);
  const archive = `${folder}.tgz`;
  const isUnpacked = existsSync(join(folder, "pyodide.asm.wasm"));
  if (isUnpacked && existsSync(archive)) return;
  mkdirSync(stamps, { recursive: true });
  const npm = ["pack", `pyodide@${version}`, "--ignore-scripts", "--silent", "--pack-destination", stamps];
  say(`$ npm ${npm.join(" ")}`);
  spawnSync("npm", npm, { stdio: ["ignore", "ignore", "inherit"] });
  if (!existsSync(archive)) return say("Pyodide could not be downloaded: tests of the wasm environment are skipped");
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found !== integrity)
    fail(`the package of Pyodide ${version} has the hash ${found}, and ${integrity} is expected`);
  if (isUnpacked) return;
  const temporary = `${folder}.${process.pid}`;
  mkdirSync(temporary);
  if (spawnSync("tar", ["-xzf", archive, "-C", temporary], { stdio: "inherit" }).status !== 0) fail("tar failed");
  renameSync(join(temporary, "package"), folder);
  rmSync(temporary, { recursive: true });
}

/** Runs npm ci if the lock file has changed since the last install. */
async function installNodePackages() {
  const wanted = hash([readFileSync("package-lock.json"), process.platform, process.arch]);
  if (stamp("install") === wanted) return;
  if (lstatSync("node_modules", { throwIfNoEntry: false })?.isSymbolicLink()) {
    return say("node_modules is a link: npm ci would empty the folder of its owner, so it stays as it is");
  }
  // Tools are devDependencies, which are also needed under NODE_ENV=production.
  const npm = ["ci", "--include=dev", "--prefer-offline", "--no-progress", "--no-audit", "--no-fund"];
  say(`$ npm ${npm.join(" ")}`);
  if (!(await runWithProgress("npm", npm, { describe: packagesInstalled() })))
    fail("npm ci failed: see its message above");
  setStamp("install", wanted);
}

async function installDebianPackages() {
  const missing = missingDebianPackages();
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  // An optional package that could not be installed is tried again tomorrow, not at every run.
  const attempt = `${names.join(" ")} ${new Date().toISOString().slice(0, 10)}`;
  const necessary = missing.some(({ necessity }) => necessity);
  if (necessary || stamp("debian") !== attempt) {
    if ((await aptInstall(names)) && missingDebianPackages().length === 0) return;
    setStamp("debian", attempt);
  }
  for (const { name, why } of missingDebianPackages()) say(`missing: ${name} (${why}): apt-get install ${name}`);
  if (missingDebianPackages().some(({ necessity }) => necessity)) fail("rlm cannot run without Python");
}

/** The missing Debian packages. Queries the interpreters, because python3-minimal has a python3 without json. */
function missingDebianPackages() {
  const debian = pythonLacks(debianPython);
  const missing = [];
  if (!isUsable(debian) && !isUsable(pythonLacks("python3"))) {
    missing.push({
      name: "python3",
      why: "Python 3.9 or newer with json, ctypes and asyncio runs the code",
      necessity: true,
    });
  }
  if (words.has("test")) {
    for (const [module, name] of Object.entries(TESTED_MODULES)) {
      if (debian?.includes(module) === false) continue;
      missing.push({ name, why: `tests with ${module} are skipped without it`, necessity: false });
    }
    for (const name of TESTED_COMMANDS) {
      if (succeeds(name, ["--version"])) continue;
      missing.push({ name, why: `tests with ${name} are skipped without it`, necessity: false });
    }
    for (const [path, name] of Object.entries(TESTED_PROGRAMS)) {
      if (existsSync(path)) continue;
      missing.push({ name, why: `tests with ${path} are skipped without it`, necessity: false });
    }
    for (const [program, name] of Object.entries(ENGINE_PROGRAMS)) {
      if (succeeds(program, ["--version"]) || !canHaveEngine()) continue;
      missing.push({ name, why: `tests with ${program} are skipped without it`, necessity: false });
    }
  }
  return missing;
}

/** 75: no installation would help. */
function canHaveEngine() {
  return spawnSync(process.execPath, ["scripts/docker-engine.mjs", "check"], { stdio: "ignore" }).status !== 75;
}

/** The modules that an interpreter lacks, and "3.9" if it is too old; undefined if it does not start. */
function pythonLacks(python) {
  const question = `
import sys
lacks = [] if sys.version_info >= (3, 9) else ["3.9"]
from importlib.util import find_spec
specs = {name: find_spec(name) for name in ("json", "ctypes", "_ctypes", "asyncio", *${JSON.stringify(Object.keys(TESTED_MODULES))})}
lacks += [name for name, spec in specs.items() if spec is None or spec.origin is None]  # no origin: an empty folder
print(" ".join(lacks))`;
  const { status, stdout } = spawnSync(python, ["-I", "-c", question], { encoding: "utf8" });
  return status === 0 ? stdout.split(/\s+/).filter(Boolean) : undefined;
}

function isUsable(lacks) {
  return lacks !== undefined && lacks.every((name) => name in TESTED_MODULES);
}

/** Tries with the existing package lists first, then updates them: a fresh container has none, and old ones are stale. */
async function aptInstall(names) {
  const sudo = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  if (!succeeds("apt-get", ["--version"]) || (sudo.length > 0 && !succeeds("sudo", ["-n", "true"]))) return false;
  const apt = (...args) => {
    const [command, ...rest] = [...sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", ...args];
    say(`$ ${[command, ...rest].join(" ")}`);
    return runWithProgress(command, rest, { stdout: "ignore", describe: () => "apt-get is at work" });
  };
  const install = () => apt("install", "-y", "--no-install-recommends", ...names);
  return (await install()) || ((await apt("update")) && install());
}

/** Builds dist/ if its sources have changed. */
function build() {
  const inputs = ["src", "web", "python", "wasm", "scripts/page"].flatMap(filesIn);
  inputs.push("scripts/build.mjs", "package.json");
  inputs.push(...readdirSync(".").filter((name) => /^tsconfig.*\.json$/.test(name)));
  const wanted = hash(inputs.toSorted().flatMap((file) => [file, readFileSync(file)]));
  if (stamp("build") === wanted && existsSync("dist/cli.cjs")) return;
  if (!run(process.execPath, ["scripts/build.mjs"])) fail("the build failed: see its message above");
  setStamp("build", wanted);
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".pyc"))
    .map((entry) => join(entry.parentPath, entry.name));
}

function hash(parts) {
  const sum = createHash("sha256");
  for (const part of parts) sum.update(part).update("\0");
  return sum.digest("hex");
}

function stamp(name) {
  const file = join(stamps, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function setStamp(name, value) {
  mkdirSync(stamps, { recursive: true });
  writeFileSync(join(stamps, name), value);
}

/** Prints the command and its output on stderr: stdout belongs to the program that follows. */
function run(command, args) {
  say(`$ ${[command, ...args].join(" ")}`);
  return spawnSync(command, args, { stdio: ["ignore", 2, 2] }).status === 0;
}

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

function say(line) {
  process.stderr.write(`setup: ${line}\n`);
}

function fail(line) {
  say(line);
  process.exit(1);
}
