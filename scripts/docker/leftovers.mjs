// What a private Docker engine occupies on this machine: a folder, a namespace and cgroups; how all of it is ended and removed.
//
// A folder names the processes that own it. One whose owner is dead was left by a run that crashed, and any later start removes it. A process
// is its number and its start time, since numbers are used again.
import {
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const PREFIX = "rlm-docker-";
const RECORD = "owner.json";
/** A folder without a record is being made, or its maker crashed before it wrote one. */
const UNRECORDED_MS = 10 * 60_000;
const END_LIMIT_MS = 30_000;

/** Writes who owns the folder. `init`: process 1 of the namespace, or null while there is none. */
export function record(folder, { isDetached, init, madeFolders }) {
  const keeper = identify(process.pid);
  const owner = { bootId: bootId(), namespace: pidNamespace(), keeper, isDetached, init, madeFolders };
  writeFileSync(join(folder, RECORD), JSON.stringify(owner));
}

/** The number and start time of a process; null if there is none, or only its exit status is left. */
export function identify(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, ...fields] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return "ZX".includes(state) ? null : { pid, start: fields[18] };
  } catch {
    return null;
  }
}

/** The engines of this user that `start` left running. Those of `run`, as of tests, end with whoever started them. */
export function detachedEngines() {
  return folders().flatMap((folder) => {
    const owner = readRecord(folder);
    const isOne = owner?.isDetached === true && isHere(owner) && isAlive(owner.keeper);
    return isOne ? [{ folder, keeper: owner.keeper }] : [];
  });
}

/** Ends and removes what dead runs left. */
export async function sweep() {
  for (const folder of folders()) {
    const owner = readRecord(folder);
    if (owner === undefined) {
      if (Date.now() - lstatSync(folder).mtimeMs > UNRECORDED_MS) removeFolder(folder);
    } else if (owner.bootId !== bootId()) {
      removeFolder(folder);
    } else if (isHere(owner) && !isAlive(owner.keeper)) {
      await endEngine(folder, owner);
    }
  }
}

/** Ends every process of the engine, then removes its cgroups and its folder. Its mounts end with its namespace. */
export async function endEngine(folder, { init, madeFolders }) {
  const isRunning = () => init !== null && isAlive(init);
  for (const until = Date.now() + END_LIMIT_MS; isRunning(); await sleep(20)) {
    // The kernel kills everything in the namespace, and process 1 is gone only after all the others.
    process.kill(init.pid, "SIGKILL");
    if (Date.now() > until) throw new Error(`process ${init.pid} of '${folder}' does not end`);
  }
  await removeCgroups(basename(folder));
  removeFolder(folder);
  for (const made of madeFolders) removeIfEmpty(made);
}

function folders() {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(tmpdir(), name))
    .filter((folder) => {
      const status = lstatSync(folder, { throwIfNoEntry: false });
      return status?.isDirectory() && status.uid === process.getuid?.();
    });
}

function readRecord(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, RECORD), "utf8"));
  } catch {
    return undefined;
  }
}

/** Whether the process numbers of the record mean something here. */
function isHere(owner) {
  return owner.bootId === bootId() && owner.namespace === pidNamespace();
}

function isAlive(known) {
  return known !== null && identify(known.pid)?.start === known.start;
}

function bootId() {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function pidNamespace() {
  return readlinkSync("/proc/self/ns/pid");
}

/** The cgroups of an engine are below one of this name in every hierarchy. An ended process leaves its cgroup a little later. */
async function removeCgroups(name) {
  for (const mount of cgroupMounts()) {
    const top = join(mount, name);
    for (const until = Date.now() + END_LIMIT_MS; existsSync(top); await sleep(20)) {
      try {
        removeTree(top);
      } catch (error) {
        if (error.code !== "EBUSY" || Date.now() > until) throw error;
      }
    }
  }
}

export function cgroupMounts() {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.filter((line) => / - cgroup2? /.test(line)).map((line) => line.split(" ")[4]);
}

function removeTree(cgroup) {
  for (const entry of readdirSync(cgroup, { withFileTypes: true }))
    if (entry.isDirectory()) removeTree(join(cgroup, entry.name));
  try {
    rmdirSync(cgroup);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

function removeFolder(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

function removeIfEmpty(folder) {
  try {
    rmdirSync(folder);
  } catch {
    // Another engine uses it.
  }
}
