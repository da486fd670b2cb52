// Forks: independent live copies of a session.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { TIER } from "../../tier.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("fork()", () => {
  test("copies what cannot be pickled: generators, closures, locks, open files at their offset", async () => {
    await using session = await runtime.openSession();
    await session.execute(`
import threading
open("lines.txt", "w").write("one\\ntwo\\nthree\\n")
file = open("lines.txt")
first = file.readline()
numbers = (n * n for n in range(100))
[next(numbers) for _ in range(3)]
lock = threading.Lock(); lock.acquire()
def counter():
    count = 0
    def step():
        nonlocal count
        count += 1
        return count
    return step
step = counter(); step()
`).result;
    await using fork = await session.fork({ id: "branch" });
    const probe = "(next(numbers), file.readline(), lock.locked(), step(), first)";
    expect(await valueOf(fork, probe)).toBe("(9, 'two\\n', True, 2, 'one\\n')");
    expect(await valueOf(fork, probe)).toBe("(16, 'three\\n', True, 3, 'one\\n')");
    expect(await valueOf(session, probe)).toBe("(9, 'two\\n', True, 2, 'one\\n')");
    expect(runtime.sessions.list()).toEqual([session, fork]);
  });

  test("gives anonymous temporary files an offset of their own", async () => {
    await using session = await runtime.openSession();
    await session.execute(
      "import tempfile; file = tempfile.TemporaryFile(buffering=0); file.write(b'abcdef'); file.seek(0)",
    ).result;
    await using fork = await session.fork();
    expect(await valueOf(fork, "file.read(3)")).toBe("b'abc'");
    expect(await valueOf(session, "file.read(3)")).toBe("b'abc'");
  });

  test("continues the execution count, so that tracebacks find the lines of older functions", async () => {
    await using session = await runtime.openSession();
    await session.execute("def fail():\n    raise ValueError('this line')").result;
    await using fork = await session.fork();
    expect(await fork.execute("x = 1\ny = 'another line'").result).toMatchObject({ executionCount: 2 });
    const { error } = await fork.execute("fail()").result;
    expect(error?.traceback).toContain("File \"<cell 1>\", line 2, in fail\n    raise ValueError('this line')");
  });

  test("copies the working directory", async () => {
    await using session = await runtime.openSession();
    await session.execute(`
import os
os.makedirs("deep/er"); open("deep/er/a.txt", "w").write("original")
os.symlink("deep/er/a.txt", "link"); os.mkfifo("pipe")
os.chdir("deep")
out = open("er/a.txt", "a")
`).result;
    await using fork = await session.fork();
    await fork.execute(`out.write(" and fork"); out.flush(); open("new.txt", "w").close()`).result;
    expect(await valueOf(fork, `(open("er/a.txt").read(), sorted(os.listdir()), open("../link").read())`)).toBe(
      "('original and fork', ['er', 'new.txt'], 'original and fork')",
    );
    expect(await valueOf(session, `(open("er/a.txt").read(), sorted(os.listdir()))`)).toBe("('original', ['er'])");
    expect(await valueOf(fork, `os.path.commonpath([os.getcwd(), os.environ["HOME"]]) == os.environ["HOME"]`)).toBe(
      "True",
    );
  });

  test("works on a fork, and each copy lives on when the others end", async () => {
    await using first = await runtime.openSession();
    await first.execute("line = ['first']").result;
    const second = await first.fork();
    await second.execute("line.append('second')").result;
    await using third = await second.fork();
    await third.execute("line.append('third')").result;
    await second.close();
    expect(await valueOf(third, "line")).toBe("['first', 'second', 'third']");
    await first.close();
    expect(await valueOf(third, "line, open('still-writable', 'w').write('yes')")).toBe(
      "(['first', 'second', 'third'], 3)",
    );
    // The files of a copy are removed after it was closed.
    const left = () => valueOf(third, "import os; sorted(os.listdir('/work')), len(os.listdir('/forks'))");
    if (TIER === "C") await expect(left()).rejects.toThrow(/Permission|No such file/);
    else await expect.poll(left).toBe("([], 1)");
  });

  test("waits for other operations: forks, checkpoints, variables being set", async () => {
    await using session = await runtime.openSession();
    await session.execute("x = 1").result;
    const [fork, other, , third] = await Promise.all([
      session.fork(),
      session.fork(),
      session.set("x", { json: 2 }),
      session.fork(),
      session.checkpoint(),
    ]);
    expect(await Promise.all([fork, other, third].map((one) => valueOf(one, "x")))).toEqual(["1", "1", "2"]);
  });

  test("is refused while code runs or threads are alive, with the reason, and changes nothing", async () => {
    await using session = await runtime.openSession();
    const running = session.execute("input_ready = True\nprint('up', flush=True)\nwhile True: pass");
    for await (const event of running) if (event.type === "output-delta") break;
    await expect(session.fork()).rejects.toMatchObject({ code: "FORK_REFUSED", why: "an execution is running" });
    session.interrupt();
    await running.result;
    await session.execute(`
import threading
stop = threading.Event()
thread = threading.Thread(target=stop.wait, name="the-waiter"); thread.start()
`).result;
    await expect(session.fork()).rejects.toThrow(/a thread of it is alive: the-waiter/);
    await expect(session.checkpoint()).rejects.toMatchObject({ code: "FORK_REFUSED" });
    expect(await valueOf(session, "stop.set(); thread.join(); input_ready")).toBe("True");
    await using fork = await session.fork();
    expect(await valueOf(fork, "input_ready")).toBe("True");
  });

  test("is invisible to os.wait() in user code", async () => {
    await using session = await runtime.openSession();
    await using fork = await session.fork();
    await session.checkpoint();
    const code = "import os\ntry:\n  os.wait(); saw = 'a child'\nexcept ChildProcessError: saw = 'nothing'\nsaw";
    expect(await valueOf(session, code)).toBe("'nothing'");
    await fork.close();
    expect(await valueOf(session, code)).toBe("'nothing'");
  });

  test("ends with everything it started, without affecting its siblings", async () => {
    await using session = await runtime.openSession();
    const daemon = (name: string) => `
import os, time
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open("${name}", "w").write(str(os.getpid()))
            time.sleep(1000)
        os._exit(0)
    os.wait()
    while not (os.path.exists("${name}") and open("${name}").read()): time.sleep(0.001)
    return int(open("${name}").read())
pid = daemon()
`;
    await session.execute(daemon("mine")).result;
    await using fork = await session.fork();
    await fork.execute(daemon("theirs")).result;
    const [mine, theirs] = [await valueOf(session, "pid"), await valueOf(fork, "pid")];
    expect(await valueOf(session, `[os.path.exists(f"/proc/{p}") for p in (${mine}, ${theirs})]`)).toBe("[True, True]");
    await fork.close();
    expect(await valueOf(session, `[os.path.exists(f"/proc/{p}") for p in (${mine}, ${theirs})]`)).toBe(
      "[True, False]",
    );
  });

  test("continues with the same random numbers", async () => {
    await using session = await runtime.openSession();
    await session.execute("import random; random.seed(7); random.random()").result;
    await using fork = await session.fork();
    expect(await valueOf(fork, "[random.random() for _ in range(3)]")).toBe(
      await valueOf(session, "[random.random() for _ in range(3)]"),
    );
  });

  test("has an event loop of its own, and earlier tasks continue in both", async () => {
    await using session = await runtime.openSession();
    await session.execute(`
import asyncio
ticks = []
async def tick():
    for n in range(1000):
        ticks.append(n); await asyncio.sleep(0)
task = asyncio.ensure_future(tick())
await asyncio.sleep(0)
`).result;
    await using fork = await session.fork();
    expect(await valueOf(fork, "await task; len(ticks)")).toBe("1000");
    expect(await valueOf(session, "await task; len(ticks)")).toBe("1000");
    expect(await valueOf(fork, "await asyncio.to_thread(lambda: 'thread')")).toBe("'thread'");
  });

  test("refuses an id that is taken, and more branches than the limit", async () => {
    await using session = await runtime.openSession({ limits: { branches: 3 } });
    await expect(session.fork({ id: session.id })).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    await using fork = await session.fork();
    const checkpoint = await session.checkpoint();
    await fork.checkpoint();
    await expect(session.checkpoint()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", limit: "branches", value: 3 });
    await expect(fork.fork()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    session.dropCheckpoint(checkpoint);
    await using again = await session.fork();
    expect(await valueOf(again, "1 + 1")).toBe("2");
  });
});
