// Sessions of tier C that share the user of the host: they reach neither its processes nor its files, whatever version Landlock has.

/** @module-tag stress */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comesTrue, isAlive } from "../machine.ts";
import { isRoot, named, openHosts, USER, type Hosts, type Way } from "./container-host.ts";

const owner = isRoot ? { uid: USER, gid: USER } : undefined;
let hosts: Hosts;
/** A process of the same user outside. */
let victim: ChildProcess;

beforeAll(async () => {
  hosts = await openHosts();
  victim = spawn("sleep", ["600"], { ...owner, detached: true });
  await once(victim, "spawn");
});
afterAll(() => {
  victim.kill("SIGKILL");
  hosts[Symbol.dispose]();
});

const versions = [
  ["of this kernel", undefined],
  ["of Linux 5.19", "2"],
] as const;

describe.each(versions)("with the Landlock %s", (_, version) => {
  const way: Way = { ...(owner && { owner }), env: version === undefined ? {} : { RLM_SANDBOX_LANDLOCK: version } };

  test("code signals, groups and schedules no process of its user outside", async () => {
    const attempts = [
      ...[0, 9, 19].map((number) => `os.kill(victim, ${number})`),
      "os.kill(-victim, 9)",
      "os.killpg(victim, 0)",
      "os.kill(-1, 9)",
      "os.kill(os.getppid(), 0)",
      "os.setpgid(0, victim)",
      "call(234 if x86 else 131, victim, victim, 9)",
      "call(129 if x86 else 138, victim, 9, bytes(128))",
      "call(297 if x86 else 240, victim, victim, 9, bytes(128))",
      "call(200 if x86 else 130, victim, 9)",
      "call(424, os.pidfd_open(victim), 9, None, 0)",
      "fcntl.fcntl(0, 8, victim)",
      "fcntl.fcntl(0, 15, struct.pack('ii', 1, victim))",
      "os.sched_setaffinity(victim, {0})",
      "os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0))",
      "os.setpriority(os.PRIO_PROCESS, victim, 5)",
      "call(251 if x86 else 30, 1, victim, 3 << 13)",
      "resource.prlimit(victim, resource.RLIMIT_NOFILE, (0, 0))",
    ];
    const prepare = `import os, fcntl, struct, resource, ctypes
x86, victim, libc = os.uname().machine == "x86_64", ${victim.pid}, ctypes.CDLL(None, use_errno=True)
def call(*arguments):
  if libc.syscall(*arguments) == -1: raise OSError(ctypes.get_errno(), "failed")
def held(attempt):
  try: attempt()
  except OSError: return True`;
    const tried = attempts.map((attempt) => `held(lambda: ${attempt})`);
    const values = await hosts.run(way, { codes: [prepare, ...tried] });
    expect(Object.fromEntries(attempts.map((attempt, at) => [attempt, values[at + 1]]))).toEqual(
      Object.fromEntries(attempts.map((attempt) => [attempt, "True"])),
    );
    expect(isAlive(victim.pid ?? 0)).toBe(true);
  });

  test("it signals and schedules its own processes in every usual way", async () => {
    const codes = [
      "import os, signal, subprocess, threading, time, multiprocessing",
      "subprocess.run(['sleep', '600'], timeout=0.1)",
      "p = subprocess.Popen(['sleep', '600']); p.terminate(); p.wait()",
      "p = multiprocessing.get_context('fork').Process(target=time.sleep, args=(600,)); p.start(); p.kill(); p.join(); p.exitcode",
      "subprocess.run(['bash', '-c', 'sleep 600 & kill %1; wait %1'], capture_output=True).returncode",
      "p = subprocess.Popen(['bash', '-c', 'sleep 600 & wait'], start_new_session=True); os.killpg(p.pid, 15); p.wait()",
      "subprocess.run(['bash', '-c', 'trap \"n=x\\$n\" TERM; kill $$; kill 0; kill -- -$$; until [ \"$n\" = xxx ]; do :; done'], start_new_session=True).returncode",
      `got = []; _ = signal.signal(signal.SIGUSR1, lambda *_: got.append(1)); os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1); signal.pthread_kill(threading.get_ident(), signal.SIGUSR1); len(got)`,
      "os.sched_setaffinity(threading.get_native_id(), {min(os.sched_getaffinity(0))}); os.setpriority(0, os.getpid(), max(5, os.getpriority(0, 0)))",
      "signal.raise_signal(signal.SIGINT)",
      "os.kill(2 ** 22 + 1, 0)",
    ];
    expect(named(await hosts.run(way, { codes }))).toEqual([
      null,
      "TimeoutExpired",
      "-15",
      "-9",
      "143",
      "-15",
      "0",
      "3",
      null,
      "KeyboardInterrupt",
      "ProcessLookupError",
    ]);
  });

  test.skipIf(version !== undefined)(
    "multiprocessing has pools, queues, values and locks without /dev/shm",
    async () => {
      const codes = [
        `import multiprocessing, os; mp = multiprocessing.get_context("fork")
with mp.Pool(2) as pool: squares = pool.map(abs, [-1, -2, 3])
squares`,
        `queue, value, lock = mp.Queue(), mp.Value("i", 0), mp.RLock()
def count():
  for _ in range(100):
    with lock, lock, value.get_lock(): value.value += 1
  queue.put(os.getpid())
processes = [mp.Process(target=count) for _ in range(3)]
for process in processes: process.start()
(len({queue.get() for _ in processes}), value.value)`,
        "once = mp.Lock(); (once.acquire(), once.acquire(False), once.acquire(timeout=0.01), once.release())",
        "once.release()",
        "multiprocessing.get_context('spawn').Lock()",
      ];
      const values = named(await hosts.run(way, { codes }));
      expect(values).toEqual(["[1, 2, 3]", "(3, 300)", "(True, False, False, None)", "ValueError", "PermissionError"]);
    },
  );

  test("no file outside is truncated, nor its mode or a flag changed, by a descriptor that Landlock grants", async () => {
    const shown = join(hosts.folder, "shown");
    const system = isRoot ? [join("/usr/local/share", `tier-c-${process.pid}`)] : []; // it may be the user's own
    const files = [join(hosts.folder, "outside"), join(shown, "file"), ...system];
    mkdirSync(shown);
    for (const path of files) writeFileSync(path, "kept", { mode: 0o640 });
    if (isRoot) for (const path of [shown, ...files]) chownSync(path, USER, USER);
    const attack = `import os, fcntl, struct
def attempt(path, flags, work):
  try: work(os.open(path, flags))
  except OSError: pass
for path in ${JSON.stringify(files)}:
  for flags in (3, 3 | os.O_TRUNC, os.O_TRUNC, os.O_TRUNC | os.O_CREAT, 0):
    attempt(path, flags, lambda fd: os.fchmod(fd, 0o777))
    attempt(path, flags, lambda fd: os.utime(fd, (1, 1)))
    attempt(path, flags, lambda fd: fcntl.ioctl(fd, 0x40086602, struct.pack('l', 0x80)))`;
    for (const mounts of [[], [{ path: shown, mode: "ro" }]]) {
      expect(await hosts.run(way, { codes: [attack], mounts })).toEqual([null]);
    }
    for (const path of files) {
      const { size, mode, ctimeMs, mtimeMs } = statSync(path);
      expect([path, size, mode & 0o777, Math.abs(ctimeMs - mtimeMs) < 5000]).toEqual([path, 4, 0o640, true]);
    }
    for (const path of [shown, ...files]) rmSync(path, { recursive: true, force: true });
  });

  test("it changes modes and times of its own files, and of those in a folder mounted for writing, in every usual way", async () => {
    const shared = mkdtempSync(join(hosts.folder, "shared-"));
    writeFileSync(join(shared, "given"), "");
    if (isRoot) for (const path of [shared, join(shared, "given")]) chownSync(path, USER, USER);
    const codes = [
      `import os, subprocess
open("f", "w").close(); os.mkdir("d"); os.symlink("f", "link")
def status(path): found = os.lstat(path); return oct(found.st_mode & 0o7777), int(found.st_atime), int(found.st_mtime)
def sh(command): return subprocess.run(["bash", "-c", command], capture_output=True, text=True).stdout.strip()`,
      "os.chmod('link', 0o640); os.utime('f', (1, 2)); status('f')",
      "os.utime('link', (3, 4), follow_symlinks=False); status('link')[1:] + status('f')[1:]",
      "with open('f') as f: os.fchmod(f.fileno(), 0o755); os.utime(f.fileno(), (5, 6))\nstatus('f')",
      "d = os.open('d', os.O_PATH); os.close(os.open('g', os.O_CREAT, dir_fd=d)); os.chmod('g', 0o751, dir_fd=d); status('d/g')[0]",
      "sh('printf \"echo run\" > run; chmod +x run; ./run')",
      'sh(\'touch -a -d @7 f; stat -c "%X %Y" f; touch -d @8 d; tar c d | tar x --one-top-level=e; stat -c "%a %Y" e/d e/d/g\')',
      "os.utime('f'); status('f')[2] > 1_000_000",
      `os.chmod(${JSON.stringify(join(shared, "given"))}, 0o604); status(${JSON.stringify(join(shared, "given"))})[0]`,
      "os.chmod('none', 0o600)",
      "os.fchmod(99, 0o600)",
      "os.chmod('f', 0o4755)",
      "os.mkdir('closed'); open('closed/f', 'w').close(); os.chmod('closed', 0)\nos.chmod('closed/f', 0o600)",
    ];
    expect(named(await hosts.run(way, { codes, mounts: [{ path: shared, mode: "rw" }] }))).toEqual([
      null,
      "('0o640', 1, 2)",
      "(3, 4, 1, 2)",
      "('0o755', 5, 6)",
      "'0o751'",
      "'run'",
      expect.stringMatching(/^'7 6\\n755 8\\n751 \d+'$/),
      "True",
      "'0o604'",
      "FileNotFoundError",
      "OSError",
      "PermissionError",
      "PermissionError",
    ]);
    rmSync(shared, { recursive: true });
  });

  test("no name of an abstract socket, which all programs share, is taken", async () => {
    const codes = ["import socket; one, other = socket.socketpair(); one.bind('\\0taken-by-a-session')"];
    expect(named(await hosts.run(way, { codes }))).toEqual(["PermissionError"]);
  });

  test("it has its own limit of processes, however many others its user starts meanwhile", async () => {
    const meeting = mkdtempSync(join(hosts.folder, "meeting-"));
    if (isRoot) chownSync(meeting, USER, USER);
    const codes = [
      `import os, threading, time
open(${JSON.stringify(join(meeting, "started"))}, "w").close()
while not os.path.exists(${JSON.stringify(join(meeting, "go"))}): time.sleep(0.01)
n = 0
try:
  while n < 400: threading.Thread(target=time.sleep, args=(600,), daemon=True).start(); n += 1
except RuntimeError: pass
n`,
      "os.fork()",
      "1 + 1",
    ];
    const mounts = [{ path: meeting, mode: "rw" }];
    const running = hosts.run(way, { codes, mounts, limits: { processes: 40 } });
    expect(await comesTrue(() => existsSync(join(meeting, "started")))).toBe(true);
    const others = Array.from({ length: 60 }, () => spawn("sleep", ["600"], { ...owner }));
    await Promise.all(others.map((other) => once(other, "spawn")));
    writeFileSync(join(meeting, "go"), "");
    const [started, ...rest] = named(await running);
    for (const other of others) other.kill("SIGKILL");
    expect(Number(started)).toBeGreaterThan(25);
    expect(Number(started)).toBeLessThanOrEqual(40);
    expect(rest).toEqual(["BlockingIOError", "2"]);
    rmSync(meeting, { recursive: true });
  });

  test.skipIf(version === undefined)(
    "a flood of signals does not keep its init from a time limit, nor a command from being cancelled (where it decides on signals)",
    async () => {
      const flood = `import os, time
for _ in range(20):
  if os.fork() == 0:
    while True:
      try: os.kill(${victim.pid}, 0)
      except OSError: pass
      try: os.kill(-os.getpgrp(), 0)
      except OSError: pass`;
      const codes = [`${flood}\nwhile True:\n  try: time.sleep(60)\n  except KeyboardInterrupt: pass`, "1 + 1"];
      expect(await hosts.run(way, { codes, timeoutMs: 2000 })).toEqual([
        expect.objectContaining({ reason: "timeout" }),
        "2",
      ]);
      const command = `trap '' TERM; for _ in 1 2 3; do (while true; do kill -0 ${victim.pid} 2> /dev/null; done) & done; echo up; wait`;
      expect(await hosts.cancelShell(way, command)).toMatchObject({ status: "cancelled" });
    },
  );
});
