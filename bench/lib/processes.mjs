// Processes of the benchmark: started alike, limited in time, ended together; and what the kernel knows about them.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

export const PYTHON = "/usr/bin/python3";
export const CACHE = fileURLToPath(new URL("../../node_modules/.cache/rlm-bench", import.meta.url));
const LEFT_OUT = new Set(["PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "NODE_EXTRA_CA_CERTS"]);
const started = new Set();

/** Variables that change how fast Python or Node start or print are left out. */
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

/** A child in a process group of its own, which `endProcesses` ends. */
export function start(command, args, options = {}) {
  const child = spawn(command, args, { env: cleanEnvironment(), detached: true, ...options });
  started.add(child);
  child.once("exit", () => started.delete(child));
  child.stdin?.on("error", () => {}); // its exit tells
  return child;
}

export function stop(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // gone already
  }
}

/** Lets children leave by themselves, so that they can end what they started, and kills those that stay. */
export async function endProcesses() {
  const exits = [...started].map((child) => new Promise((resolve) => child.once("exit", resolve)));
  for (const child of started) child.stdin?.end();
  const patience = new Promise((resolve) => setTimeout(resolve, 2000).unref());
  await Promise.race([Promise.all(exits), patience]);
  for (const child of started) stop(child);
}

/** Rejects when the promise takes longer than this; a hanging contender must not hang the benchmark. */
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

/** The lines that a child prints, one call of the returned function each. */
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

/** Holds this process, and all it starts from now on, on one core. False where that cannot be done. */
export function pin() {
  return setCores(String(availableParallelism() - 1));
}

export function unpin() {
  return setCores(allCores());
}

/** A command line that runs on these cores, whatever this process is held to. */
export function onCores(list, command, args) {
  return hasTaskset() ? ["taskset", ["-c", list, command, ...args]] : [command, args];
}

const cores = availableParallelism();

export function allCores() {
  return `0-${cores - 1}`;
}

function setCores(list) {
  if (!hasTaskset()) return false;
  execFileSync("taskset", ["-apc", list, String(process.pid)], { stdio: "ignore" });
  return true;
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

/** Every process below this one, without itself. */
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

/** Memory of a process where a page shared by n processes counts one n-th, in bytes; undefined where it is not told. */
export function proportionalBytes(pid) {
  const line = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? "");
  return line === null ? undefined : Number(line[1]) * 1024;
}

/** Time that a process has had a processor, in clock ticks (mostly 10 ms). */
export function cpuTicks(pid) {
  const fields = statFields(pid);
  return fields === undefined ? 0 : Number(fields[11]) + Number(fields[12]);
}

/** The same in microseconds, all threads together. */
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
