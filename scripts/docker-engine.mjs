// A private Docker engine for tests: its own data, socket, processes and mounts, no network of its own, and nothing left afterwards.
//
//   node scripts/docker-engine.mjs run      prints DOCKER_HOST=... and serves until standard input ends or a signal comes
//   node scripts/docker-engine.mjs start    the same in the background
//   node scripts/docker-engine.mjs stop     ends every engine that `start` or `run` left running
//   node scripts/docker-engine.mjs check    only says whether this machine can have one
//
// The engine has a process namespace and a mount namespace. Process 1 of them ends when this program ends, in whatever way; the kernel then
// ends the engine, its containers and their mounts together. Folders that a killed run left are removed by the next start.
//
// `run` also prints the pid of dockerd as ENGINE_PID=... If dockerd dies, `run` says so on standard error and waits: the line "restart" on its standard
// input starts dockerd again, on the same data. Exit code 75: there can be no engine on this machine, and standard error has the reason.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PREFIX, cgroupMounts, endEngine, identify, liveEngines, record, sweep } from "./docker/leftovers.mjs";

const START_LIMIT_MS = 120_000;
const LOG_LINES = 3;
/** Folders that dockerd makes wherever its data is. */
const SYSTEM_FOLDERS = ["/run/docker/plugins", "/run/docker"];
/** Best first. The second needs nothing of the file system, and copies each layer. */
const STORAGE_DRIVERS = ["overlay2", "vfs"];
/** The path of a unix socket has at most this many bytes, and containerd's is the longest. */
const LONGEST_FOLDER = 60;

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
    const made = spawnSync("unshare", [...namespaces(), "mount", "-t", "tmpfs", "tmpfs", folder], { encoding: "utf8" });
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

/** Mounts of the machine appear inside, and none of those made inside appear outside. */
function namespaces() {
  return ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "slave"];
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
  const engine = await openEngine();
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

async function openEngine() {
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  const madeFolders = SYSTEM_FOLDERS.filter((name) => !existsSync(name));
  record(folder, { init: null, madeFolders });
  if (folder.length > LONGEST_FOLDER)
    throw new Error(`'${tmpdir()}' is too long for the sockets of an engine: set TMPDIR to a shorter one`);
  // Users other than root get as far as the socket, which refuses them, as on any machine.
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, "daemon.json"), "{}");
  // Its standard input ends with this process. Then `cat` ends, process 1 after it, and with that the namespaces.
  const holder = spawn("unshare", [...namespaces(), "docker-init", "--", "cat"], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const failed = once(holder, "exit").then(() => Promise.reject(new Error("the namespaces of the engine ended")));
  failed.catch(() => undefined);
  holder.stdin.on("error", () => undefined);
  // `cat` answers when everything around it is there.
  holder.stdin.write("ready\n");
  await Promise.race([once(holder.stdout, "data"), failed]);
  const init = identify(childOf(holder.pid));
  record(folder, { init, madeFolders });
  return new Engine(folder, { init, madeFolders, holder });
}

function childOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}

class Engine {
  #folder;
  #parts;
  #daemon;
  #driver = STORAGE_DRIVERS[0];
  #isClosing = false;

  constructor(folder, parts) {
    this.#folder = folder;
    this.#parts = parts;
  }

  /** Of dockerd, as this process sees it. */
  get pid() {
    return childOf(this.#daemon.pid);
  }

  /** The address, once it answers. A storage driver that does not work here is followed by the next. */
  async start() {
    for (const driver of STORAGE_DRIVERS.slice(STORAGE_DRIVERS.indexOf(this.#driver))) {
      this.#driver = driver;
      if (await this.#tryStart()) return `unix://${this.#socket}`;
      if (!this.#log().includes(`driver not supported`) && !this.#log().includes("failed to mount overlay")) break;
    }
    const lines = this.#log().trim().split("\n").slice(-LOG_LINES);
    throw new Error(`dockerd does not start:\n${lines.join("\n")}`);
  }

  restartOn(lines) {
    lines.on("line", (line) => {
      if (line.trim() !== "restart") return;
      this.start().then(
        (host) => process.stdout.write(`DOCKER_HOST=${host}\nENGINE_PID=${this.pid}\n`),
        (error) => process.stderr.write(`docker-engine: ${error.message}\n`),
      );
    });
  }

  async close() {
    this.#isClosing = true;
    await endEngine(this.#folder, this.#parts);
    this.#parts.holder.stdin.destroy();
  }

  get #socket() {
    return join(this.#folder, "docker.sock");
  }

  #log() {
    return readFileSync(join(this.#folder, "log"), "utf8");
  }

  /** False: dockerd ended before it answered. */
  async #tryStart() {
    const log = openSync(join(this.#folder, "log"), "w");
    const inside = ["--target", String(this.#parts.init.pid), "--mount", "--pid"];
    const daemon = spawn("nsenter", [...inside, "dockerd", ...this.#options()], {
      stdio: ["ignore", log, log],
      env: { PATH: process.env.PATH, HOME: this.#folder },
      detached: true,
    });
    this.#daemon = daemon;
    let isOver = false;
    daemon.once("exit", (code, signal) => {
      isOver = true;
      if (!this.#isClosing) process.stderr.write(`docker-engine: dockerd ended: ${signal ?? `exit code ${code}`}\n`);
    });
    for (const until = Date.now() + START_LIMIT_MS; !isOver; await sleep(20)) {
      if (await answers(this.#socket)) return true;
      if (Date.now() > until) throw new Error(`dockerd does not answer within ${START_LIMIT_MS / 1000} s`);
    }
    return false;
  }

  #options() {
    const at = (name) => join(this.#folder, name);
    return [
      ...["--config-file", at("daemon.json"), "--host", `unix://${this.#socket}`, "--group", "0"],
      ...["--data-root", at("data"), "--exec-root", at("exec"), "--pidfile", at("pid")],
      ...["--storage-driver", this.#driver],
      // Its cgroups can be found and removed, also where systemd has others.
      ...["--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", `/${basename(this.#folder)}`],
      ...["--iptables=false", "--ip6tables=false", "--bridge=none"],
    ];
  }
}

function answers(socketPath) {
  return new Promise((resolve) => {
    const ping = request({ socketPath, path: "/_ping", timeout: 5_000 }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode === 200));
    });
    ping.once("error", () => resolve(false)).once("timeout", () => ping.destroy(new Error("no answer")));
    ping.end();
  });
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
  for (const { folder, keeper } of liveEngines()) {
    process.kill(keeper.pid, "SIGTERM");
    for (const until = Date.now() + START_LIMIT_MS; existsSync(folder); await sleep(50))
      if (Date.now() > until) throw new Error(`process ${keeper.pid} does not end`);
  }
  await sweep();
}
