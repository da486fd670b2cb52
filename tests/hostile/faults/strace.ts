// System calls of a live process and its children, recorded or made to fail by strace.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { python } from "../machine.ts";
import { TIER } from "../../tier.ts";

/** What happens to one system call. Each process counts its calls of this name from 1. */
export interface Fault {
  readonly call: string;
  readonly when: number | string;
  /** As strace writes it: `error=EPERM`, `retval=0` (skipped, and pretends success), `delay_enter=1s`. */
  readonly how: string;
}

export interface Call {
  readonly pid: number;
  readonly name: string;
  /** How many calls of this name the process has made, this one included. */
  readonly when: number;
  readonly text: string;
}

/** The kernel executes this call instead. Without it, it would be number -1, for which the filter of a sandbox kills. */
const INSTEAD = ":syscall=getpid";

/** Why no process can be traced here. Undefined: it can. */
export function whyNoStrace(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can trace the processes of a sandbox";
  if (TIER === "C") return "tier C: it has other walls";
  const options = [
    "-e",
    "trace=getppid,mount_setattr,landlock_restrict_self",
    "-e",
    `inject=getppid:error=EPERM${INSTEAD}`,
  ];
  const { status, error, stderr } = spawnSync("strace", [...options, python, "-c", ""], { encoding: "utf8" });
  if (error !== undefined) return "strace is not installed";
  return status === 0 ? undefined : `strace: ${stderr.trim().split("\n").at(-1)}`;
}

/** Attaches to a process, and to each that it forks, until it is disposed. */
export async function injectFault(pid: number, ...faults: readonly Fault[]): Promise<AsyncDisposable> {
  const calls = `trace=${[...new Set(faults.map(({ call }) => call))].join(",")}`;
  const rules = faults.flatMap(({ call, when, how }) => [
    "-e",
    `inject=${call}:${how}${how.startsWith("delay") ? "" : INSTEAD}:when=${when}`,
  ]);
  return attach(pid, ["-e", calls, ...rules, "-o", "/dev/null"]);
}

/** The system calls that a process and the processes it forks make during some work, in order for each process. */
export async function recordCalls(pid: number, work: () => Promise<unknown>): Promise<readonly Call[]> {
  const folder = mkdtempSync(join(tmpdir(), "calls-"));
  try {
    {
      await using _ = await attach(pid, ["-o", join(folder, "calls"), "-s", "400"]);
      await work();
    }
    return parseCalls(readFileSync(join(folder, "calls"), "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function attach(pid: number, options: readonly string[]): Promise<AsyncDisposable> {
  const strace = spawn("strace", ["-f", "-p", String(pid), ...options], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(strace, "exit");
  let said = "";
  const attached = new Promise<void>((resolve) => {
    strace.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("attached")) resolve();
    });
  });
  await Promise.race([
    attached,
    ended.then(() => {
      throw new Error(`strace ended: ${said}`);
    }),
  ]);
  return {
    async [Symbol.asyncDispose]() {
      strace.kill("SIGINT"); // it lets go of every process
      await ended;
    },
  };
}

function parseCalls(text: string): readonly Call[] {
  const counts = new Map<string, number>();
  return text.split("\n").flatMap((line): Call[] => {
    const parts = /^(?<pid>\d+)\s+(?<name>\w+)\((?<text>.*)$/.exec(line)?.groups;
    if (parts === undefined) return []; // a signal, an end, or the rest of a call that was interrupted
    const { pid = "", name = "", text: rest = "" } = parts;
    const when = (counts.get(`${pid} ${name}`) ?? 0) + 1;
    counts.set(`${pid} ${name}`, when);
    return [{ pid: Number(pid), name, when, text: rest }];
  });
}
