// Runs a command of the set-up and shows that it moves: one line that is rewritten on a terminal, a plain line now and then elsewhere.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const TERMINAL_MS = 250;
const PLAIN_MS = 10_000;

/**
 * Resolves to whether it succeeded. Its output goes to stderr, unless `stdout` says otherwise: stdout belongs to the program that follows.
 * `describe` says how far it is.
 */
export function runWithProgress(command, args, { describe, stdout = 2, stream = process.stderr, everyMs } = {}) {
  const startedAt = performance.now();
  const isTerminal = stream.isTTY;
  let shown = "";
  const show = () => {
    const line = `setup: ${describe()}, ${Math.round((performance.now() - startedAt) / 1000)} s`;
    if (line === shown) return;
    stream.write(isTerminal ? `\r${line}\u001B[K` : `${line}\n`);
    shown = line;
  };
  const timer = setInterval(show, everyMs ?? (isTerminal ? TERMINAL_MS : PLAIN_MS));
  return new Promise((resolve) => {
    // On a terminal, what the command writes replaces the line, which is shown again below it.
    const child = spawn(command, args, { stdio: ["ignore", stdout, isTerminal ? "pipe" : 2] });
    child.stderr?.on("data", (chunk) => {
      stream.write(shown === "" ? chunk : `\r\u001B[K${chunk}`);
      shown = "";
    });
    const end = (succeeded) => {
      clearInterval(timer);
      if (isTerminal && shown !== "") stream.write("\r\u001B[K");
      resolve(succeeded);
    };
    child.on("error", () => end(false)).on("close", (code) => end(code === 0));
  });
}

/** Says how many packages of a lock file are in place. */
export function packagesInstalled(folder = ".") {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const wanted = Object.entries(packages)
    .filter(([path, entry]) => path !== "" && isForThisMachine(entry))
    .map(([path]) => join(folder, path, "package.json"));
  return () => {
    const there = wanted.filter((path) => existsSync(path)).length;
    return `installing packages, ${there} of ${wanted.length}`;
  };
}

/** Packages for other systems, and what only these need, stay in the lock file and are not installed. */
function isForThisMachine({ os, cpu, libc, optional }) {
  if (optional && os === undefined) return false;
  const fits = (allowed, value) => allowed === undefined || allowed.includes(value);
  return fits(os, process.platform) && fits(cpu, process.arch) && (libc === undefined || fits(libc, libcName()));
}

function libcName() {
  return process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "glibc";
}
