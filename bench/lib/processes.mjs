// Child processes of the benchmark: starts them alike, limits their time, stops them together, and reads their usage from /proc.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

export const PYTHON = "/usr/bin/python3";
export const CACHE = fileURLToPath(new URL("../../node_modules/.cache/rlm-bench", import.meta.url));
const LEFT_OUT = new Set(["PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "NODE_EXTRA_CA_CERTS"]);
const started = new Set();

/** Without variables that change how fast Python or Node start or print. */
export function cleanEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !LEFT_OUT.has(name)));
}

export function peer(name) {
  return fileURLToPath(new URL(`../peers/${name}`, import.meta.url));
}

/** Whether the interpreter that sessions run on has a library. */
export function hasModule(name) {
  return spawnSync(PYTHON, ["-I", "-c", `import ${name}`], { stdio: "ignore" }).status === 0;
}

/** Starts a child in its own process group, which `endProcesses` stops. */
export function start(command, args, options = {}) {
  const child = spawn(command, args, { env: cleanEnvironment(), detached: true, ...options });
  started.add(child);
  child.once("exit", () => started.delete(child));
  child.stdin?.on("error", () => {}); // its exit is reported
  return child;
}

export function stop(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // it has already exited
  }
}

/** Asks children to exit, so that they can stop their own children, and kills those that remain. */
export async function endProcesses() {
  const exits = [...started].map((child) => new Promise((resolve) => child.once("exit", resolve)));
  for (const child of started) child.stdin?.end();
  const timeout = new Promise((resolve) => setTimeout(resolve, 2000).unref());
  await Promise.race([Promise.all(exits), timeout]);
  for (const child of started) stop(child);
}

/** Rejects if the promise takes too long: a contender that hangs must not hang the benchmark. */
export async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a function that resolves with the child's next line. */
export function lineReader(stream) {
  const lines = [];
  const waiting = [];
  let rest = "";
  stream.setEncoding("utf8").on("data", (text) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop();
    for (const line of parts) {
      const next = waiting.shift();
      if (next === undefined) lines.push(line);
      else next(line);
    }
  });
  return () => (lines.length > 0 ? Promise.resolve(lines.shift()) : new Promise((resolve) => waiting.push(resolve)));
}

/** Pins this process and its future children to one core. False if that fails. */
export function pin() {
  return setCores(String(availableParallelism() - 1));
}

/** Lets a process use all cores again; its future children, too. */
export function unpin(pid = process.pid) {
  return setCores(allCores(), pid);
}

/** A command line that runs on these cores, even if this process is pinned to others. */
export function onCores(list, command, args) {
  return hasTaskset() ? ["taskset", ["-c", list, command, ...args]] : [command, args];
}

const cores = availableParallelism();

export function allCores() {
  return `0-${cores - 1}`;
}

function setCores(list, pid = process.pid) {
  if (!hasTaskset()) return false;
  // A process other than this one may have ended.
  const { status } = spawnSync("taskset", ["-apc", list, String(pid)], { stdio: "ignore" });
  return status === 0;
}

let taskset;
function hasTaskset() {
  try {
    taskset ??= execFileSync("taskset", ["-V"], { stdio: ["ignore", "pipe", "ignore"] }).length > 0;
  } catch {
    taskset = false;
  }
  return taskset;
}

/** All descendants of this process. */
export function descendants(pid) {
  const children = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statFields(name);
    if (fields === undefined) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [];
  for (const waiting = [pid]; waiting.length > 0;) {
    const below = children.get(waiting.pop()) ?? [];
    found.push(...below);
    waiting.push(...below);
  }
  return found;
}

/** The fork servers that this process has started. */
export function forkServers() {
  return descendants(process.pid).filter((pid) => read(`/proc/${pid}/cmdline`)?.includes("forkserver/__main__.py"));
}

/** The proportional set size of a process in bytes; undefined if it is not readable. */
export function proportionalBytes(pid) {
  const line = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? "");
  return line === null ? undefined : Number(line[1]) * 1024;
}

/** The CPU time of a process in clock ticks (usually 10 ms). */
export function cpuTicks(pid) {
  const fields = statFields(pid);
  return fields === undefined ? 0 : Number(fields[11]) + Number(fields[12]);
}

/** The CPU time of all threads in microseconds. */
export function cpuMicroseconds(pid) {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    total += Number(read(`/proc/${pid}/task/${thread}/schedstat`)?.split(" ")[0] ?? 0) / 1000;
  }
  return total;
}

/** The fields of /proc/PID/stat from the state on. */
function statFields(pid) {
  return read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, "")
    .split(" ");
}

function read(path) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
