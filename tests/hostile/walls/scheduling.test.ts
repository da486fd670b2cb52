// How the init is scheduled is not for code to change: a time limit is only as good as the process that enforces it.

import { getPriority } from "node:os";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { toProbe, type Check } from "../probe.ts";
import { hold, openStage, readCorpus, type OpenStage } from "../stage.ts";
import { initOf } from "../users.ts";
import { skipInTierC } from "../../tier.ts";

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const DENIED: Check = { alive: true, value_re: "^DENIED:PermissionError" };

let stage: OpenStage;
let session: Session;

beforeAll(async () => {
  stage = await openStage();
  session = await stage.runtime.openSession();
  (await session.execute(prelude).result).unwrap();
});

afterAll(() => stage?.[Symbol.asyncDispose]());

// Each is valid: without the filter it succeeds.
const ATTEMPTS: readonly (readonly [string, string])[] = [
  ["its policy", `os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))`],
  ["its parameters", `os.sched_setparam(1, os.sched_param(0))`],
  ["its attributes", `SC(NR(314,274), 1, struct.pack("=IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0), 0)`],
  ["its processors", `os.sched_setaffinity(1, [max(os.sched_getaffinity(0))])`],
  ["its priority", `os.setpriority(os.PRIO_PROCESS, 1, 19)`],
  ["the priority of its user", `os.setpriority(os.PRIO_USER, 0, 19)`],
  ["the priority of its user by number", `os.setpriority(os.PRIO_USER, os.getuid(), 19)`],
  ["the priority of a process group", `os.setpriority(os.PRIO_PGRP, 0, 19)`],
  ["its I/O priority", `SC(NR(251,30), 1, 1, 3 << 13)`],
  ["the I/O priority of its user", `SC(NR(251,30), 3, os.getuid(), 3 << 13)`],
];

describe("attempts on the scheduling of the init", () => {
  test.each(ATTEMPTS)("%s", (id, code) => hold(toProbe(id, `T(lambda: ${code})`, { check: DENIED }), prelude, stage));

  test("leave it as it was", async () => {
    const init = await initOf(session);
    const before = scheduling(init);
    for (const [, code] of ATTEMPTS) await session.execute(`T(lambda: ${code})`).result;
    expect(scheduling(init)).toEqual(before);
  });

  test("no file of it in /proc can be written", async () => {
    const code = `def f():
    found = []
    for folder in ("/proc/1", "/proc/1/task/1"):
        for name in os.listdir(folder):
            try: os.close(os.open(os.path.join(folder, name), os.O_WRONLY)); found.append(name)
            except OSError: pass
    if not found: raise PermissionError("none")
    return found
T(f)`;
    await hold(toProbe("files of process 1", code, { check: DENIED }), prelude, stage);
  });

  test("nor can code write those of its own, or of its autogroup", async () => {
    for (const name of ["autogroup", "oom_score_adj", "timerslack_ns", "coredump_filter", "sched", "clear_refs"]) {
      const { value } = await session.execute(`T(lambda: os.open("/proc/self/${name}", os.O_WRONLY))`).result;
      expect(value?.["text/plain"], name).toMatch(/^.DENIED/);
    }
  });
});

describe("code may change its own scheduling", () => {
  test.each([
    ["by 0", `os.sched_setaffinity(0, os.sched_getaffinity(0)); os.nice(1); os.setpriority(os.PRIO_PROCESS, 0, 10)`],
    ["by its number", `os.sched_setaffinity(os.getpid(), [0]); os.setpriority(os.PRIO_PROCESS, os.getpid(), 12)`],
    ["to a policy for batches", `os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))`],
    [
      "in a thread, as OpenMP does",
      `import threading
thread = threading.Thread(target=time.sleep, args=(0.2,)); thread.start()
mask = ctypes.c_ulong(1)
failed = _libc.pthread_setaffinity_np(ctypes.c_ulong(thread.ident), ctypes.sizeof(mask), ctypes.byref(mask))
if failed: raise OSError(failed, os.strerror(failed))`,
    ],
  ])("%s", async (_, code) => {
    expect(await session.execute(code).result).toMatchObject({ status: "ok" });
  });

  test.each([
    "nice -n 3 true",
    "renice -n 13 -p $$",
    "taskset -c 0 true",
    "taskset -p 1 $$",
    "chrt -b 0 true",
    "ionice -c 3 true",
    "ionice -c 2 -n 7 -p $$",
  ])("%s", async (command) => {
    const wanted = /^\w+/.exec(command)?.[0] ?? "";
    const line = `command -v ${wanted} >/dev/null || exit 0; ${command}`;
    expect(await stage.runtime.shell(line, { session }).result).toMatchObject({ exitCode: 0 });
  });
});

test("no lower priority than its session's: whoever holds a lock of the kernel gets the processor", async () => {
  await using fresh = await stage.runtime.openSession();
  const { value } = await fresh.execute(`${prelude}
import threading
def lower():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)); os.sched_setscheduler(0, 5 | 1 << 30, os.sched_param(0))
    os.nice(10); os.setpriority(os.PRIO_PROCESS, 0, 19)
    T(lambda: SC(NR(314,274), 0, struct.pack("=IIQiIQQQ", 48, 5, 0, 19, 0, 0, 0, 0), 0))
    fields = open("/proc/thread-self/stat").read().rpartition(")")[2].split()
    seen.append((fields[16], fields[38]))
seen = []
thread = threading.Thread(target=lower); thread.start(); thread.join()
seen`).result;
  expect(value).toEqual({ "text/plain": `[('${Math.max(5, getPriority())}', '0')]` });
});

test("the list of all locks, whose reader keeps the machine from locking files, cannot be opened", async (context) => {
  skipInTierC(context, "sessions see the list of locks of the machine");
  const { value } = await session.execute(`T(lambda: open("/proc/locks").read())`).result;
  expect(value?.["text/plain"]).toMatch(/^.DENIED:PermissionError/);
});

test("no real-time priority, whatever the host's user may have", async () => {
  const { value } = await session.execute(`import resource
[resource.getrlimit(x) for x in (resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE)]`).result;
  expect(value).toEqual({ "text/plain": "[(0, 0), (0, 0)]" });
});

/** As the kernel sees it from outside: priority, nice, policy, I/O priority, processors. */
function scheduling(pid: number): unknown {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const processors = /^Cpus_allowed:\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  const io = execFileSync("ionice", ["-p", String(pid)], { encoding: "utf8" });
  return { priority: fields[15], nice: fields[16], policy: fields[38], processors, io };
}
