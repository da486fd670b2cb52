// The commands of a task are as hostile as code: they have the same sandbox and cannot escape being killed.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comesToRest, printed } from "../../tasks/observe-task.ts";
import { comesTrue, processesWith } from "../machine.ts";
import { uniqueSleep } from "../probe.ts";
import { openStage, type OpenStage } from "../stage.ts";
import { TIER, SHARES_USER } from "../../tier.ts";

/** The number of the `exit` system call, which ends one thread. */
const EXIT = process.arch === "arm64" ? 93 : 60;

let stage: OpenStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

describe("the walls of a command", () => {
  test.each([
    ["the host's files", "cat /etc/shadow /root/.ssh/* /etc/hostname 2>&1; ls -d /home/* /root/* 2>&1", /No such file/],
    [
      "writing outside of its folders",
      "echo x > /usr/x; echo x > /etc/x; echo x > /x 2>&1",
      /Permission denied|Read-only/,
    ],
    ["sockets", "python3 -c 'import socket; socket.socket(socket.AF_INET)'", /PermissionError/],
    [
      "more privilege",
      "unshare -r true; mount -t tmpfs x /tmp; cat /proc/self/status | grep -E '^(Seccomp|CapEff|NoNewPrivs)'",
      /not permitted/,
    ],
    [
      "the init",
      "cat /proc/1/environ /proc/1/mem; ls -l /proc/1/fd; kill -9 1; echo alive",
      /Permission denied[^]*alive/,
    ],
  ])("keep it from %s", async (_, command, refusal) => {
    const { stdout, stderr } = await stage.runtime.shell(`exec 2>&1; ${command}`).result;
    expect(stderr).toBe("");
    expect(stdout).toMatch(refusal);
    for (const canary of Object.values(stage.values)) expect(stdout).not.toContain(canary);
  });

  test("show nothing of the host's in the environment, and no descriptors but three", async () => {
    const { stdout } = await stage.runtime.shell(
      // Not in a pipeline, because bash would briefly hold one end of it.
      "env | cut -d= -f1 | sort | tr '\\n' ' '; ls /proc/$$/fd > fds; tr '\\n' ' ' < fds",
    ).result;
    expect(TIER === "C" ? stdout.replace("GIT_CONFIG_NOSYSTEM ", "") : stdout).toBe(
      "HOME LANG LOGNAME MPLBACKEND MPLCONFIGDIR OLDPWD OMP_NUM_THREADS OPENBLAS_NUM_THREADS PATH PWD PYTHONDONTWRITEBYTECODE SHELL SHLVL TMPDIR USER XDG_CACHE_HOME _ 0 1 2 ".replace(
        "OLDPWD ",
        stdout.includes("OLDPWD") ? "OLDPWD " : "",
      ),
    );
  });

  test("bind it to the limits of its session", async () => {
    const { stdout } = await stage.runtime.shell(
      "ulimit -u; ulimit -n; head -c 200M /dev/zero > big 2>&1; stat -c %s big",
    ).result;
    const [processes, files, ...rest] = stdout.trim().split("\n");
    if (!SHARES_USER) expect(processes).toBe("128"); // else the init counts, because the kernel would count all processes of the user
    expect(files).toBe("512");
    expect(Number(rest.at(-1))).toBeLessThanOrEqual(128 * 2 ** 20);
    await stage.runtime.shell("rm big").result;
  });
});

describe("a command that wants to outlive its task", () => {
  test("cannot change the mark by which it is known", async () => {
    const code = "import resource; print(resource.getrlimit(10)); resource.setrlimit(10, (1, 1))";
    const { stdout, stderr } = await stage.runtime.shell(
      `python3 -c '${code}'; ulimit -S -x 7; prlimit --locks=1:1 true`,
    ).result;
    expect(stdout).toMatch(/^\(\d+, -1\)/);
    expect(stderr).toMatch(/not (permitted|allowed)[^]*not permitted/i);
  });

  test("is ended however it hides: double forks, sessions and groups of its own, ignored signals, stopped processes", async () => {
    const mark = uniqueSleep();
    const hide = `
import os, signal, sys
for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(n, signal.SIG_IGN)
for stop in (False, True):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setpgid(0, 0)
            for fd in range(3): os.close(fd)
            if stop: os.kill(os.getpid(), signal.SIGSTOP)
            os.execvp("sleep", ["sleep", sys.argv[1]])
        os._exit(0)
os.wait(); os.wait()
print("hidden", flush=True)
`;
    const task = stage.runtime.shell(`python3 -c '${hide}' ${mark}; sleep ${mark}`);
    await printed(task, "hidden");
    await comesTrue(() => processesWith(mark).length >= 2);
    await task.cancel();
    expect(processesWith(mark)).toEqual([]);
  });

  test("is ended although it forks faster than it is counted", { tags: "stress" }, async () => {
    await using session = await stage.runtime.openSession({ limits: { processes: 64 } });
    await session.execute("kept = 1").result;
    const mark = uniqueSleep();
    const bomb = stage.runtime.shell(`bomb() { sleep ${mark} & bomb | bomb & }; echo lit; bomb; wait`, { session });
    await printed(bomb, "lit");
    await comesTrue(() => processesWith(mark).length > 5);
    await bomb.cancel();
    expect(processesWith(mark)).toEqual([]);
    expect((await session.execute("kept").result).value?.["text/plain"]).toBe("1");
    expect(await stage.runtime.shell("echo fine", { session }).result).toMatchObject({ stdout: "fine\n" });
  });

  const HOP = `
while True:
    try:
        if os.fork(): os._exit(0)
        os.setsid()
    except OSError: pass # its init is too busy to reap
`;
  const MULTIPLY = `
while True:
    try:
        if os.fork() and os.fork(): os._exit(0)
    except OSError: pass
`;
  test.each([
    ["forks and ends all the time, never to be found where it was", HOP],
    ["does so in each of its processes, of which there are as many as there may be", MULTIPLY],
  ])("is ended although it %s", { tags: "stress" }, async (_, loop) => {
    await using session = await stage.runtime.openSession({ limits: { processes: 64 } });
    const mark = uniqueSleep();
    await session.files.write("hop.py", `import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n${loop}`);
    const task = stage.runtime.shell(`python3 hop.py ${mark} & sleep 0.3`, { session });
    const { status, background } = await task.result;
    expect({ status, background }).toEqual({ status: "completed", background: true });
    await task.cancel();
    expect(processesWith(mark)).toEqual([]);
    await session.execute("import time; time.sleep(0.1)").result;
    expect(processesWith(mark)).toEqual([]);
    expect(await stage.runtime.shell("echo fine", { session }).result).toMatchObject({ stdout: "fine\n" });
  });

  test(
    "is ended, paused and resumed although its first thread has ended, which makes it look dead",
    { tags: "stress" },
    async () => {
      const code = `
import ctypes, signal, threading, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def run():
    while True: print("x", flush=True); time.sleep(0.005)
threading.Thread(target=run).start()
ctypes.CDLL(None).syscall(${EXIT}, 0)
`;
      const task = stage.runtime.shell(`exec python3 -c '${code}'`);
      await printed(task, "x");
      await task.pause();
      const totalBytes = await comesToRest(task);
      await task.resume();
      while (task.output({ length: 0 }).totalBytes === totalBytes) await task.wait(5);
      await task.cancel();
      expect(task.info()).toMatchObject({ status: "cancelled", exitCode: 137 });
    },
  );

  test("is paused although it forks all the time", { tags: "stress" }, async () => {
    const task = stage.runtime.shell("while true; do true | true & echo x; done");
    await printed(task, "x");
    await task.pause();
    await comesToRest(task);
    await task.cancel();
  });
});

test("dead processes of a session that carry the marks of its tasks keep no task from ending", async () => {
  await using session = await stage.runtime.openSession();
  const code = `
import os, resource
for number in range(50):
    resource.setrlimit(10, (number, resource.getrlimit(10)[1]))
    if os.fork() == 0: os._exit(0)
`;
  expect((await session.execute(code).result).status).toBe("ok");
  const task = stage.runtime.shell("echo fine", { session });
  expect(await task.result).toMatchObject({ status: "completed", stdout: "fine\n", background: false });
  const other = stage.runtime.shell("sleep 1000 & echo left", { session });
  expect(await other.result).toMatchObject({ status: "completed", background: true });
  await other.cancel();
  expect(other.info().background).toBe(false);
});

describe("memory in processes whose first thread has ended, which show none of it", () => {
  const HIDE = `
import ctypes, threading, time
def run():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z": time.sleep(0.01)
    held = bytearray(90_000_000)
    time.sleep(600)
threading.Thread(target=run).start()
ctypes.CDLL(None).syscall(${EXIT}, 0)
`;

  test("counts for a task", async () => {
    await using session = await stage.runtime.openSession({ limits: { memoryBytes: 128 * 1024 * 1024 } });
    await session.files.write("hide.py", HIDE);
    const task = stage.runtime.shell("python3 hide.py & python3 hide.py & wait", { session });
    expect(await task.result).toMatchObject({ status: "failed", why: expect.stringContaining("more memory was used") });
  });

  test("counts for a session", async () => {
    await using session = await stage.runtime.openSession({ limits: { memoryBytes: 128 * 1024 * 1024 } });
    await session.files.write("hide.py", HIDE);
    const code =
      "import subprocess; [each.wait() for each in [subprocess.Popen(['python3', 'hide.py']) for _ in range(2)]]";
    expect(await session.execute(code).result).toMatchObject({ status: "interrupted", reason: "memory" });
  });
});
