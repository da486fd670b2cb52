// The checks of `rlm doctor`, in the order in which one thing needs the other. Each looks, and repairs nothing.

import { existsSync } from "node:fs";
import { access, constants, readFile, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { DEFAULT_LIMITS } from "../runtime.ts";
import { dataFolder } from "../util/data-folder.ts";
import type { Finding } from "./doctor.ts";
import { trySandbox } from "./doctor-sandbox.ts";

const DEFAULT_PORT = 8000;
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

export async function* findings(): AsyncGenerator<Finding, void, undefined> {
  yield { check: "node", status: "ok", found: `${process.versions.node} at ${process.execPath}` }; // else we would not be here
  yield* await trySandbox();
  yield await memory();
  yield await folder();
  yield await temporary();
  yield await port();
  yield docker();
  yield { check: "limits", status: "ok", found: limits() };
}

/** What a session may use at most should be there for at least one. */
async function memory(): Promise<Finding> {
  const text = await readFile("/proc/meminfo", "utf8").catch(() => "");
  const available = Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) * 1024;
  const found = Number.isNaN(available) ? "unknown" : `${size(available)} available`;
  if (!(available < DEFAULT_LIMITS.memoryBytes)) return { check: "memory", status: "ok", found };
  const fix = `A session may use ${size(DEFAULT_LIMITS.memoryBytes)}: end other programs, or pass less with --memory`;
  return { check: "memory", status: "warn", found, fix };
}

async function folder(): Promise<Finding> {
  const path = dataFolder("server");
  const isWritable =
    path !== undefined &&
    (await access(path, constants.W_OK).then(
      () => true,
      () => false,
    ));
  if (isWritable) return { check: "data folder", status: "ok", found: path };
  const found = `${path ?? "it"} cannot be written`;
  return { check: "data folder", status: "warn", found, fix: "Set RLM_DATA to a folder that can be written" };
}

/** Long output of executions lies there while it can be read. */
async function temporary(): Promise<Finding> {
  const path = tmpdir();
  const { bavail, bsize } = await statfs(path).catch(() => ({ bavail: 0, bsize: 0 }));
  const found = `${size(bavail * bsize)} free in ${path}`;
  if (bavail * bsize >= 2 * DEFAULT_LIMITS.readableOutputBytes) return { check: "disk", status: "ok", found };
  return { check: "disk", status: "warn", found, fix: "Free some space, or set TMPDIR to a folder that has more" };
}

async function port(): Promise<Finding> {
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer().once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(DEFAULT_PORT, "127.0.0.1", () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return { check: "port", status: "ok", found: `${DEFAULT_PORT} is free` };
  const found = code === "EADDRINUSE" ? `${DEFAULT_PORT} is taken` : `${DEFAULT_PORT} cannot be used: ${code}`;
  return { check: "port", status: "warn", found, fix: "Use another: rlm serve --port 0 takes any that is free" };
}

function docker(): Finding {
  const isThere = process.env["DOCKER_HOST"] !== undefined || existsSync("/var/run/docker.sock");
  return {
    check: "docker",
    status: "ok",
    found: `${isThere ? "a daemon is there" : "no daemon found"}; this version does not use one`,
  };
}

function limits(): string {
  const { memoryBytes, diskBytes, processes, openFiles, branches, sessions, totalMemoryBytes } = DEFAULT_LIMITS;
  const each = `${size(memoryBytes)} memory, ${size(diskBytes)} disk, ${processes} processes, ${openFiles} open files`;
  return `${each}, ${branches} branches for a session; ${sessions} sessions, ${size(totalMemoryBytes)} memory together`;
}

function size(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${(bytes / MIB).toFixed(0)} MiB`;
}
