// A private Docker engine for tests: its own data, socket, processes and mounts, no network of its own, and nothing left afterwards.
//
//   node scripts/docker-engine.mjs run      prints DOCKER_HOST=... and serves until standard input ends or a signal comes
//   node scripts/docker-engine.mjs start    the same in the background
//   node scripts/docker-engine.mjs stop     ends every engine that `start` left running
//   node scripts/docker-engine.mjs check    only says whether this machine can have one
//
// The engine has a process namespace and a mount namespace. Process 1 of them ends when this program ends, in whatever way; the kernel then
// ends the engine, its containers and their mounts together. Folders that a killed run left are removed by the next start.
//
// `run` also prints the pid of dockerd as ENGINE_PID=... If dockerd dies, `run` says so on standard error and waits: the line "restart" on its standard
// input starts dockerd again, on the same data. Exit code 75: there can be no engine on this machine, and standard error has the reason.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { NAMESPACES, openEngine } from "./docker/engine.mjs";
import { PREFIX, cgroupMounts, detachedEngines, sweep } from "./docker/leftovers.mjs";

const STOP_LIMIT_MS = 60_000;

class CannotRun extends Error {}

const commands = { run, start, stop, check };
const command = commands[process.argv[2]];
if (command === undefined || process.argv.length > 4) {
  process.stderr.write("usage: docker-engine.mjs run | start | stop | check\n");
  process.exit(2);
}
try {
  await command();
} catch (error) {
  process.stderr.write(`docker-engine: ${error.message}\n`);
  process.exitCode = error instanceof CannotRun ? 75 : 1;
}

function check() {
  const why = whyImpossible();
  if (why !== undefined) throw new CannotRun(why);
  requireProgram();
}

/** What no installation changes. Undefined: this machine can have an engine. */
function whyImpossible() {
  if (process.platform !== "linux") return "a Docker engine needs Linux";
  if (process.getuid() !== 0) return "only root can start a Docker engine";
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}check-`));
  try {
    const made = spawnSync("unshare", [...NAMESPACES, "mount", "-t", "tmpfs", "tmpfs", folder], { encoding: "utf8" });
    if (made.status !== 0) return `a Docker engine needs mounts, and this machine allows none: ${lastLine(made)}`;
  } finally {
    rmdirSync(folder);
  }
  const mounts = cgroupMounts();
  if (mounts.length === 0) return "a Docker engine needs cgroups, and none are mounted";
  const cgroup = join(mounts[0], basename(folder));
  try {
    mkdirSync(cgroup);
    rmdirSync(cgroup);
  } catch (error) {
    return `a Docker engine needs cgroups, and none can be made: ${error.message}`;
  }
  return undefined;
}

function lastLine({ stderr, error }) {
  return stderr?.trim().split("\n").at(-1) || error?.message || "unshare failed";
}

function requireProgram() {
  const missing = ["dockerd", "docker-init"].find((name) => spawnSync(name, ["--version"]).status !== 0);
  if (missing !== undefined)
    throw new Error(`'${missing}' is not installed: apt-get install --no-install-recommends docker.io`);
}

async function run() {
  const isDetached = process.argv[3] === "detached";
  check();
  await sweep();
  const ended = untilAsked(isDetached);
  const engine = await openEngine({ isDetached });
  try {
    const host = await engine.start();
    process.stdout.write(`DOCKER_HOST=${host}\nENGINE_PID=${engine.pid}\n`);
    if (!isDetached) engine.restartOn(createInterface({ input: process.stdin }));
    await ended;
  } finally {
    await engine.close();
  }
}

/** Resolves when standard input ends, or at the first signal. */
async function untilAsked(isDetached) {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"].map((name) => once(process, name));
  await Promise.race(isDetached ? signals : [...signals, once(process.stdin, "end")]);
}

/** Starts `run` without a standard input, and leaves it when the engine answers. */
async function start() {
  const keeper = spawn(process.execPath, [fileURLToPath(import.meta.url), "run", "detached"], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let printed = "";
  keeper.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
  const exit = once(keeper, "exit");
  while (!printed.includes("ENGINE_PID=")) {
    const [code] = await Promise.race([exit, once(keeper.stdout, "data").then(() => [])]);
    if (code !== undefined) return (process.exitCode = code);
  }
  process.stdout.write(`${printed.split("\n")[0]}\n`);
  keeper.stdout.destroy();
  keeper.unref();
}

async function stop() {
  for (const { folder, keeper } of detachedEngines()) {
    process.kill(keeper.pid, "SIGTERM");
    for (const until = Date.now() + STOP_LIMIT_MS; existsSync(folder); await sleep(50))
      if (Date.now() > until) throw new Error(`process ${keeper.pid} does not end`);
  }
  await sweep();
}
