// Forks attacked from inside so that the host would wait: nothing may wait forever.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { skipInTierC } from "../../tier.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 0, timeoutMs: 20_000 });
});
afterAll(() => runtime.close());

const UNMARK = "import resource; resource.setrlimit(10, (77, resource.RLIM_INFINITY))";

test.concurrent(
  "a worker that changes its mark is ended all the same while copies of it live",
  { tags: "stress" },
  async () => {
    const session = await runtime.openSession();
    await session.execute("x = 1").result;
    await session.checkpoint();
    const deaf = `${UNMARK}\nimport signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass`;
    expect(await session.execute(deaf, { timeoutMs: 100 }).result).toMatchObject({
      status: "interrupted",
      reason: "timeout",
      state: "restored",
    });
    expect(await valueOf(session, "x")).toBe("1");
    await session.close();
  },
);

test.concurrent("memory behind another mark is found, and its processes end before any worker does", async () => {
  const session = await runtime.openSession({ limits: { memoryBytes: 256 * 2 ** 20 } });
  await session.execute("x = 1").result;
  await session.checkpoint();
  const fork = await session.fork();
  const hoard = `
import mmap, os
started = os.getpid()
ready, go = os.pipe(), os.pipe()
pids = []
for _ in range(3):
    pids.append(os.fork())
    if pids[-1] == 0:
        ${UNMARK}
        os.write(ready[1], b"!")
        os.read(go[0], 1)
        block = mmap.mmap(-1, 2**27)
        for _ in range(128): block.write(b"x" * 2**20)
        os.read(os.pipe()[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
os.write(go[1], b"!!!")
[os.waitpid(pid, 0)[1] for pid in pids]
`;
  const result = await fork.execute(hoard, { timeoutMs: 30_000 }).result;
  expect(result.value?.["text/plain"]).toBe("[9, 9, 9]");
  expect(await valueOf(fork, "os.getpid() == started")).toBe("True");
  expect(await valueOf(session, "x")).toBe("1");
  await fork.close();
  await session.close();
});

/** The hook never returns in a copy of a copy: a checkpoint can be taken but never resumes. */
const SLEEPER = `
import os, time
copies = 0
def sleep_in_the_second():
    global copies
    copies += 1
    if copies == 2: time.sleep(1000)
os.register_at_fork(after_in_child=sleep_in_the_second)
`;

test.concurrent("a checkpoint that never wakes is given up; the session goes on", { tags: "stress" }, async () => {
  const session = await runtime.openSession();
  const fork = await session.fork(); // so that closing the session does not end all
  await session.execute(SLEEPER).result;
  await session.checkpoint();
  expect(await session.execute("os._exit(3)").result).toMatchObject({ status: "exit", state: "lost" });
  expect(await valueOf(session, "1 + 1")).toBe("2");
  await session.close();
  await fork.close();
});

test.concurrent("a copy that says it is ready and never stands can be closed", { tags: "stress" }, async () => {
  const session = await runtime.openSession();
  await session.execute(`
import os, resource, sys
def lie():
    global kept
    frame = sys._getframe()
    while "fds" not in frame.f_locals: frame = frame.f_back
    kept = [os.dup(fd) for fd in frame.f_locals["fds"]]  # the copy's control socket stays open
    while "name" not in frame.f_locals: frame = frame.f_back
    os.write(kept[3], b'{"type":"ready","id":null,"protocol":1,"python":"3.11.2"}\\n')
    frame.f_locals["self"]._writer.send({"type": "status", "id": frame.f_locals["name"], "status": "ok"})
    limit(0)
def limit(soft): resource.setrlimit(resource.RLIMIT_NPROC, (soft, most))
most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
os.register_at_fork(before=lie, after_in_parent=lambda: limit(most))
`).result;
  const fork = await session.fork();
  expect((await fork.execute("1", { timeoutMs: 100 }).result).status).toBe("interrupted");
  await fork.close();
  await session.close();
});

test.concurrent("a worker that dies while it is being replaced leaves the session where it was sent", async (context) => {
  skipInTierC(context, "the processes of other sessions are in the same /proc");
  const session = await runtime.openSession();
  // The copy is slow, so that the death is noticed before the copy is ready.
  await session.execute("import os, time; os.register_at_fork(after_in_child=lambda: time.sleep(0.3)); x = 1").result;
  const checkpoint = await session.checkpoint();
  await session.execute("x = 2").result;
  await session.checkpoint();
  // Exits as soon as another process exists.
  await session.execute(`
import os, threading
def count(): return sum(map(str.isdigit, os.listdir("/proc")))
before = count()
def suicide():
    while count() == before: pass
    os.kill(os.getpid(), 9)
threading.Thread(target=suicide, daemon=True).start()
`).result;
  await session.rewind(checkpoint);
  expect(await valueOf(session, "x")).toBe("1");
  const alive = "import os; len([pid for pid in os.listdir('/proc') if pid.isdigit()])";
  expect(await valueOf(session, alive)).toBe("4"); // the init, this worker, two checkpoints
  expect((await session.info()).epoch).toBe(2);
  await session.close();
});

test("closing the runtime in the middle of forks ends them too", async () => {
  const own = await openTestRuntime({ poolSize: 0 });
  const session = await own.openSession();
  const forks = Promise.allSettled([session.fork(), session.checkpoint(), session.fork()]);
  await own.close();
  await forks;
  expect(own.sessions.list()).toEqual([]);
});
