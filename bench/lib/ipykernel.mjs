// The best-known peer: ipykernel with jupyter_client, from Debian's packages, in a folder of the benchmark.
//
// Installs nothing on the machine: missing packages are downloaded and unpacked. If that fails, the report says why the peer
// is absent; old numbers are never used instead.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  allCores,
  CACHE,
  cleanEnvironment,
  lineReader,
  onCores,
  peer,
  PYTHON,
  start,
  stop,
  within,
} from "./processes.mjs";

const FOLDER = join(CACHE, "ipykernel");
const WANTED = ["python3-ipykernel", "python3-jupyter-client"];

/** Makes the packages available. Returns the reason if it fails, else undefined. */
export function installKernel() {
  if (existsSync(join(FOLDER, "done"))) return undefined;
  const parts = join(CACHE, "ipykernel.part");
  try {
    rmSync(parts, { recursive: true, force: true });
    mkdirSync(parts, { recursive: true });
    const run = (command, args) =>
      execFileSync(command, args, {
        cwd: parts,
        encoding: "utf8",
        maxBuffer: 2 ** 28,
        stdio: ["ignore", "pipe", "pipe"],
        timeout: 120_000,
      });
    run("apt-get", ["download", ...missingPackages(run)]);
    for (const file of readdirSync(parts)) if (file.endsWith(".deb")) run("dpkg", ["-x", file, parts]);
    writeFileSync(join(parts, "done"), "");
    rmSync(FOLDER, { recursive: true, force: true });
    renameSync(parts, FOLDER);
    return undefined;
  } catch (error) {
    return (error.stderr || error.message).trim().split("\n").at(-1);
  }
}

/** The missing dependencies of ipykernel, direct and indirect. */
function missingPackages(run) {
  const flags = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"].map((kind) => `--no-${kind}`);
  const needed = run("apt-cache", ["depends", "--recurse", ...flags, ...WANTED]).match(/^[a-z0-9][^\s:<]*$/gm) ?? [];
  const installed = new Set(
    run("dpkg-query", ["-W", "-f", "${Package} ${db:Status-Status}\n"]).match(/^\S+(?= installed)/gm),
  );
  const missing = [...new Set(needed)].filter((name) => !installed.has(name));
  const policies = run("apt-cache", ["policy", ...missing]).split(/^(?=\S)/m);
  return policies
    .filter((policy) => /Candidate: \d/.test(policy))
    .map((policy) => policy.slice(0, policy.indexOf(":")));
}

/**
 * A running kernel with a client in a separate Python that measures it. Undefined if it is not available; `absent` then gets the
 * reason.
 */
export async function openKernel(absent) {
  const failure = installKernel();
  if (failure !== undefined) {
    absent("ipykernel", failure);
    return undefined;
  }
  const driver = openDriver();
  try {
    const { startMs } = await driver.ask({ op: "start" });
    return {
      startMs,
      /** Milliseconds from the start of another kernel to its first result; stops it afterwards. */
      start: async () => (await driver.ask({ op: "start-another" })).startMs,
      /** Microseconds per round trip. */
      roundTrips: async (count) => (await driver.ask({ op: "round-trips", count })).us,
      pid: (await driver.ask({ op: "pid" })).pid,
    };
  } catch (error) {
    absent("ipykernel", error.message);
    stop(driver.child);
    return undefined;
  }
}

function openDriver() {
  const environment = {
    ...cleanEnvironment(),
    PYTHONPATH: join(FOLDER, "usr/lib/python3/dist-packages"),
    LD_LIBRARY_PATH: libraryFolders().join(":"),
    JUPYTER_PATH: join(FOLDER, "usr/share/jupyter"),
    JUPYTER_RUNTIME_DIR: join(CACHE, "jupyter"),
    JUPYTER_CONFIG_DIR: join(CACHE, "jupyter"),
    IPYTHONDIR: join(CACHE, "jupyter"),
    JUPYTER_PLATFORM_DIRS: "1",
  };
  const [command, args] = onCores(allCores(), PYTHON, [peer("drive_ipykernel.py")]);
  const child = start(command, args, { env: environment, stdio: ["pipe", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (text) => (complaint = `${complaint}${text}`.slice(-2000)));
  const nextLine = lineReader(child.stdout);
  const exit = new Promise((_, reject) => {
    child.once("exit", () => reject(new Error(complaint.trim().split("\n").at(-1) || "its driver ended")));
  });
  exit.catch(() => {});
  const ask = async (order) => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
    return JSON.parse(await within(60_000, `ipykernel's ${order.op}`, Promise.race([nextLine(), exit])));
  };
  return { child, ask };
}

function libraryFolders() {
  const lib = join(FOLDER, "usr/lib");
  return [
    lib,
    ...readdirSync(lib)
      .filter((name) => name.includes("-linux-"))
      .map((name) => join(lib, name)),
  ];
}
