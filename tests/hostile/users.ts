// What the kernel counts for each user of the machine, and code that takes all of it.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../internals.ts";
import { comesTrue, parentOf, processesWith, python } from "./machine.ts";
import { uniqueSleep } from "./probe.ts";

/** The first number is that of one user: no account has it, and other tests do not use it. */
export const RANGE = { first: 1_900_000_000, size: 128 };

const PRELUDE = `
import ctypes, fcntl, os, socket
libc = ctypes.CDLL(None, use_errno=True)
DEFAULT, LARGE = 65536, 1 << 20
def timer(): return libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p())) == 0
def pipe():
    ends = os.pipe()
    return ends if fcntl.fcntl(ends[1], 1032) == DEFAULT else [os.close(end) for end in ends] and None
def fly():
    pair = socket.socketpair()
    pair[0].setblocking(False)
    try: socket.send_fds(pair[0], [b"x"], [0] * 100)
    except OSError: return None
    return pair
`;

/** Takes all it can get, and keeps it. Evaluates to how much that was. */
export const TAKE_ALL = `${PRELUDE}
inotify = []
while (fd := libc.inotify_init()) >= 0: inotify.append(fd)
timers = 0
while timer(): timers += 1
pipes = []
try:
    while ends := pipe():
        pipes.append(ends)
        fcntl.fcntl(ends[1], 1031, LARGE)
except OSError: pass
flying = []
while len(flying) < 100 and (pair := fly()): flying.append(pair)
{"inotify": len(inotify), "timers": timers, "pipes": len(pipes), "flying": len(flying)}
`;

/** Evaluates to whether there is some left of each. */
export const TAKE_ONE = `${PRELUDE}
{"inotify": libc.inotify_init() >= 0, "timers": timer(), "pipes": pipe() is not None, "flying": fly() is not None}
`;

export interface Taken {
  readonly inotify: number;
  readonly timers: number;
  readonly pipes: number;
  /** Hundreds of descriptors in flight. */
  readonly flying: number;
}

/** The value of the last line of the code. */
export async function take<Result>(session: Session, code: string): Promise<Result> {
  const { stdout, error } = await session.execute(toProgram(code)).result;
  if (error !== undefined) throw new Error(error.traceback);
  return JSON.parse(stdout) as Result;
}

/** Whether a program of the host's own user gets one of each. */
export function takeOutside(): unknown {
  return JSON.parse(spawnSync(python, ["-c", toProgram(TAKE_ONE)], { encoding: "utf8" }).stdout);
}

function toProgram(code: string): string {
  const lines = code.trimEnd().split("\n");
  return [...lines.slice(0, -1), `import json; print(json.dumps(${lines.at(-1)}))`].join("\n");
}

/** The kernel's number for the user of a session, seen from outside. */
export async function kernelUser(session: Session): Promise<number> {
  const status = await withProcess(session, (pid) => readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
}

/** The init of a session: the parent of its worker. */
export function initOf(session: Session): Promise<number> {
  return withProcess(session, (pid) => parentOf(parentOf(pid) ?? 0) ?? 0);
}

/** Starts a process in the session for the time of the call. */
async function withProcess<Result>(session: Session, look: (pid: number) => Result): Promise<Result> {
  const mark = uniqueSleep();
  await session.execute(`import subprocess; child = subprocess.Popen(["sleep", "${mark}"])`).result;
  await comesTrue(() => processesWith(mark).length === 1);
  const result = look(processesWith(mark)[0] ?? 0);
  await session.execute("child.kill(); child.wait()").result;
  return result;
}

/** Each call has a range of its own: users of sessions that were just closed may still be taken. */
let ranges = 0;

/** Another process locks all users of a range but the last few, as other runtimes would. */
export async function lockAllBut(
  free: number,
): Promise<{ readonly range: string; readonly free: readonly number[] } & AsyncDisposable> {
  const folder = join(import.meta.dirname, "../../python/forkserver/sandbox/privileged");
  const first = RANGE.first + (process.pid * 4 + (ranges++ % 4)) * RANGE.size;
  const numbers = Array.from({ length: RANGE.size }, (_, index) => first + index);
  const code = `import sys; sys.path.insert(0, ${JSON.stringify(folder)}); sys.dont_write_bytecode = True
import users
held = users.Users([range(${first}, ${first + RANGE.size - free})], users.open_lock_file())
for _ in range(${RANGE.size - free}): held.take()
print("ready", flush=True); sys.stdin.read()`;
  const holder: ChildProcess = spawn(python, ["-I", "-c", code], { stdio: ["pipe", "pipe", "inherit"] });
  const died = once(holder, "exit").then(() => Promise.reject(new Error("the users could not be locked: see stderr")));
  died.catch(() => {}); // it also ends when it is told to
  await Promise.race([once(holder.stdout ?? holder, "data"), died]);
  return {
    range: `${first}-${first + RANGE.size - 1}`,
    free: numbers.slice(-free),
    async [Symbol.asyncDispose]() {
      const exited = once(holder, "exit");
      holder.stdin?.end();
      await exited;
    },
  };
}
