// Live copies of a session: forks, checkpoints, rewinding, undo.

import { describe, expect, test } from "vitest";
import { openTestRuntime, valueOf } from "../open.ts";

describe("fork()", () => {
  test("copies what cannot be pickled: generators, closures, locks, open files at their place", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
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
    const fork = await session.fork({ id: "branch" });
    const probe = "(next(numbers), file.readline(), lock.locked(), step(), first)";
    expect(await valueOf(fork, probe)).toBe("(9, 'two\\n', True, 2, 'one\\n')");
    expect(await valueOf(fork, probe)).toBe("(16, 'three\\n', True, 3, 'one\\n')");
    expect(await valueOf(session, probe)).toBe("(9, 'two\\n', True, 2, 'one\\n')");
    expect(runtime.sessions.list().map(({ id }) => String(id))).toEqual([session.id, "branch"]);
  });

  test("gives temporary files without a name a position of their own", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute(
      "import tempfile; file = tempfile.TemporaryFile(buffering=0); file.write(b'abcdef'); file.seek(0)",
    ).result;
    const fork = await session.fork();
    expect(await valueOf(fork, "file.read(3)")).toBe("b'abc'");
    expect(await valueOf(session, "file.read(3)")).toBe("b'abc'");
  });

  test("goes on counting executions, so that tracebacks find the lines of functions made before", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute("def fail():\n    raise ValueError('this line')").result;
    const fork = await session.fork();
    expect(await fork.execute("x = 1\ny = 'another line'").result).toMatchObject({ executionCount: 2 });
    const { error } = await fork.execute("fail()").result;
    expect(error?.traceback).toContain("File \"<cell 1>\", line 2, in fail\n    raise ValueError('this line')");
  });

  test("copies the working directory, which is then its own", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute(`
import os
os.makedirs("deep/er"); open("deep/er/a.txt", "w").write("original")
os.symlink("deep/er/a.txt", "link"); os.mkfifo("pipe")
os.chdir("deep")
out = open("er/a.txt", "a")
`).result;
    const fork = await session.fork();
    await fork.execute(`out.write(" and fork"); out.flush(); open("new.txt", "w").close()`).result;
    expect(await valueOf(fork, `(open("er/a.txt").read(), sorted(os.listdir()), open("../link").read())`)).toBe(
      "('original and fork', ['er', 'new.txt'], 'original and fork')",
    );
    expect(await valueOf(session, `(open("er/a.txt").read(), sorted(os.listdir()))`)).toBe("('original', ['er'])");
    expect(await valueOf(fork, `os.path.commonpath([os.getcwd(), os.environ["HOME"]]) == os.environ["HOME"]`)).toBe(
      "True",
    );
  });

  test("of a fork of a fork, and each lives on when the others end", async () => {
    await using runtime = await openTestRuntime();
    const first = await runtime.openSession();
    await first.execute("line = ['first']").result;
    const second = await first.fork();
    await second.execute("line.append('second')").result;
    const third = await second.fork();
    await third.execute("line.append('third')").result;
    await second.close();
    expect(await valueOf(third, "line")).toBe("['first', 'second', 'third']");
    await first.close();
    expect(await valueOf(third, "line, open('still-writable', 'w').write('yes')")).toBe(
      "(['first', 'second', 'third'], 3)",
    );
    expect(await valueOf(third, "import os; sorted(os.listdir('/work')), len(os.listdir('/forks'))")).toBe("([], 1)");
  });

  test("waits for what the session does beside running code: forks, checkpoints, variables being set", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
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

  test("is refused while code runs, and while threads live; the error says why and nothing has changed", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
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
    const fork = await session.fork();
    expect(await valueOf(fork, "input_ready")).toBe("True");
  });

  test("never shows itself to os.wait() of user code", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    const fork = await session.fork();
    await session.checkpoint();
    const code = "import os\ntry:\n  os.wait(); saw = 'a child'\nexcept ChildProcessError: saw = 'nothing'\nsaw";
    expect(await valueOf(session, code)).toBe("'nothing'");
    await fork.close();
    expect(await valueOf(session, code)).toBe("'nothing'");
  });

  test("ends with everything it started, and with nothing of its siblings", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
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
    const fork = await session.fork();
    await fork.execute(daemon("theirs")).result;
    const [mine, theirs] = [await valueOf(session, "pid"), await valueOf(fork, "pid")];
    expect(await valueOf(session, `[os.path.exists(f"/proc/{p}") for p in (${mine}, ${theirs})]`)).toBe("[True, True]");
    await fork.close();
    expect(await valueOf(session, `[os.path.exists(f"/proc/{p}") for p in (${mine}, ${theirs})]`)).toBe(
      "[True, False]",
    );
  });

  test("goes on with the same random numbers, as a copy does", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute("import random; random.seed(7); random.random()").result;
    const fork = await session.fork();
    expect(await valueOf(fork, "[random.random() for _ in range(3)]")).toBe(
      await valueOf(session, "[random.random() for _ in range(3)]"),
    );
  });

  test("has an event loop of its own: tasks made before go on in both", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute(`
import asyncio
ticks = []
async def tick():
    for n in range(1000):
        ticks.append(n); await asyncio.sleep(0)
task = asyncio.ensure_future(tick())
await asyncio.sleep(0)
`).result;
    const fork = await session.fork();
    expect(await valueOf(fork, "await task; len(ticks)")).toBe("1000");
    expect(await valueOf(session, "await task; len(ticks)")).toBe("1000");
    expect(await valueOf(fork, "await asyncio.to_thread(lambda: 'thread')")).toBe("'thread'");
  });

  test("takes an id that exists for an error, and no more branches than the limit", async () => {
    await using runtime = await openTestRuntime({ limits: { branches: 3 } });
    const session = await runtime.openSession();
    await expect(session.fork({ id: session.id })).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    const fork = await session.fork();
    const checkpoint = await session.checkpoint();
    await fork.checkpoint();
    await expect(session.checkpoint()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", limit: "branches", value: 3 });
    await expect(fork.fork()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    session.dropCheckpoint(checkpoint);
    const again = await session.fork();
    expect(await valueOf(again, "1 + 1")).toBe("2");
  });
});

describe("checkpoint() and rewind()", () => {
  test("bring the namespace back, as often as one likes; files stay as they are", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute("data = list(range(5)); words = iter('abc'); open('kept', 'w').write('1')").result;
    const checkpoint = await session.checkpoint();
    expect(checkpoint).toMatchObject({ id: "c1", executionCount: 1, isAutomatic: false });
    const { epoch } = await session.info();
    for (let round = 1; round <= 3; round += 1) {
      await session.execute("data.clear(); del words; open('kept', 'a').write('2')").result;
      await session.rewind(checkpoint);
      expect(await valueOf(session, "data, next(words)")).toBe("([0, 1, 2, 3, 4], 'a')");
      expect((await session.info()).epoch).toBe(epoch + round);
    }
    expect(await valueOf(session, "open('kept').read()")).toBe("'1222'");
    expect(session.checkpoints().map(({ id }) => id)).toEqual(["c1"]);
  });

  test("leave nothing running of the state that was abandoned", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    const checkpoint = await session.checkpoint();
    await session.execute("import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)").result;
    await session.rewind(checkpoint);
    const count = "import os; len([pid for pid in os.listdir('/proc') if pid.isdigit()])";
    expect(await valueOf(session, count)).toBe("3"); // the init, this worker, the checkpoint
  });

  test("know a checkpoint by its id, and say which there are", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await expect(session.rewind("c1")).rejects.toThrow(/no longer, kept; there are none/);
    await session.checkpoint();
    await session.execute("x = 1").result;
    await expect(session.rewind("c9")).rejects.toThrow(/there are: c1/);
    expect(await valueOf(session, "x")).toBe("1");
    await session.rewind("c1");
    expect((await session.execute("x").result).error?.name).toBe("NameError");
  });

  test.each([
    ["a crash", "import os; os.kill(os.getpid(), 9)", { status: "interrupted", reason: "worker-lost" }],
    ["an exit of the process", "import os; os._exit(3)", { status: "exit", exitCode: 3 }],
    [
      "a timeout that had to kill",
      "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
      { status: "interrupted", reason: "timeout" },
    ],
    [
      "too much memory",
      "import mmap; x = 'lost'\nblocks = [mmap.mmap(-1, 2**26) for _ in range(8)]\n" +
        "for block in blocks: block.write(b'x' * 2**26)\nwhile True: pass",
      { status: "interrupted", reason: "memory" },
    ],
  ])("bring the state back after %s", async (_, code, expected) => {
    await using runtime = await openTestRuntime({ limits: { memoryBytes: 256 * 2 ** 20 } });
    const session = await runtime.openSession();
    await session.execute("x = 'kept'; source = (n for n in range(9)); next(source)").result;
    await session.checkpoint();
    const events: string[] = [];
    session.subscribe((event) => void (event.type === "session-reset" && events.push(event.why)));
    const result = await session.execute(code, { timeoutMs: 1500 }).result;
    expect(result).toMatchObject({ ...expected, state: "restored", epoch: 2 });
    expect(await valueOf(session, "x, next(source)")).toBe("('kept', 1)");
    expect(events).toEqual(["restored"]);
  });

  test("bring the state back when the worker ends while nothing runs", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute("x = 'kept'").result;
    await session.checkpoint();
    const restored = new Promise((resolve) => {
      session.subscribe((event) => void (event.type === "session-reset" && resolve(event.why)));
    });
    await session.execute("import threading, os; threading.Timer(0.02, lambda: os.kill(os.getpid(), 9)).start()")
      .result;
    expect(await restored).toBe("restored");
    expect(await valueOf(session, "x")).toBe("'kept'");
  });

  test("do not bring back what was emptied on purpose, unless asked", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute("x = 1").result;
    const checkpoint = await session.checkpoint();
    await session.reset();
    expect(await session.execute("import os; os._exit(1)").result).toMatchObject({ state: "lost" });
    expect((await session.execute("x").result).error?.name).toBe("NameError");
    await session.rewind(checkpoint);
    expect(await valueOf(session, "x")).toBe("1");
    expect(await session.execute("import os; os._exit(1)").result).toMatchObject({ state: "restored" });
  });

  test("come back to the checkpoint that the session was last at", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute("x = 1").result;
    const one = await session.checkpoint();
    await session.execute("x = 2").result;
    await session.checkpoint();
    await session.rewind(one);
    await session.execute("import os; os._exit(1)").result;
    expect(await valueOf(session, "x")).toBe("1");
  });

  test("hold 500 MB of objects, and 50 branches of them share what they do not change", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession();
    await session.execute("block = bytearray(500 * 2**20); block[::4096] = b'x' * len(block[::4096])").result;
    const checkpoints = [];
    for (let n = 0; n < 49; n += 1) checkpoints.push(await session.checkpoint());
    const fork = await session.fork();
    await fork.execute("block[0] = 7").result;
    await session.rewind(checkpoints[17] ?? "");
    expect(await valueOf(session, "block[0], len(block)")).toBe(`(120, ${500 * 2 ** 20})`);
    expect(await valueOf(fork, "block[0]")).toBe("7");
    await expect(session.checkpoint()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });
});

describe("undo()", () => {
  test("takes executions back one by one, as many as are kept", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession({ autoCheckpoint: 3 });
    for (let n = 1; n <= 5; n += 1) await session.execute(`n = ${n}`).result;
    for (const before of ["4", "3", "2"]) {
      await session.undo();
      const fork = await session.fork();
      expect(await valueOf(fork, "n")).toBe(before);
      await fork.close();
    }
    await expect(session.undo()).rejects.toThrow(/no earlier state is kept/);
  });

  test("says what is missing: it is off, or no copy could be made", async () => {
    await using runtime = await openTestRuntime();
    const plain = await runtime.openSession();
    await plain.execute("x = 1").result;
    await expect(plain.undo()).rejects.toThrow(/autoCheckpoint is off/);
    const session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("import threading; stop = threading.Event(); threading.Thread(target=stop.wait).start()")
      .result;
    await session.execute("x = 2").result;
    await expect(session.undo()).rejects.toThrow(/a thread of it is alive/);
    expect(await valueOf(session, "stop.set(); x")).toBe("2");
  });

  test("after a rewind takes back what came before the checkpoint, not what came after", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("x = 1").result;
    await session.execute("x = 2").result;
    const checkpoint = await session.checkpoint();
    await session.execute("x = 3").result;
    await session.execute("x = 4").result;
    await session.rewind(checkpoint);
    await session.undo();
    expect(await valueOf(await session.fork(), "x")).toBe("1");
  });

  test("does not count a cell that was incomplete: nothing of it ran", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("x = 1").result;
    await session.execute("x = 2").result;
    expect((await session.execute("def f(:\n").result).status).toBe("error");
    expect((await session.execute("def f():").result).incomplete).toBe(true);
    await session.undo();
    await session.undo();
    expect(await valueOf(session, "x")).toBe("1");
  });

  test("does not count an execution that was cancelled before it began", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("x = 1").result;
    await session.execute("x = 2").result;
    const controller = new AbortController();
    const cancelled = session.execute("x = 3", { signal: controller.signal });
    controller.abort();
    expect((await cancelled.result).status).toBe("interrupted");
    await session.undo();
    const fork = await session.fork();
    expect(await valueOf(fork, "x")).toBe("1");
  });

  test("gives up the oldest where the family has no room for another", async () => {
    await using runtime = await openTestRuntime({ limits: { branches: 2 } });
    const session = await runtime.openSession({ autoCheckpoint: true });
    for (let n = 1; n <= 4; n += 1) await session.execute(`n = ${n}`).result;
    await session.undo();
    await session.undo();
    await expect(session.undo()).rejects.toThrow(/no earlier state is kept/);
    const fork = await session.fork();
    expect(await valueOf(fork, "n")).toBe("2");
  });

  test("brings back what an execution destroyed together with its worker", async () => {
    await using runtime = await openTestRuntime();
    const session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("x = [1]").result;
    await session.execute("x.append(2)").result;
    expect(await session.execute("x.clear(); import os; os._exit(9)").result).toMatchObject({ state: "restored" });
    expect(await valueOf(session, "x")).toBe("[1, 2]");
  });
});

describe("memory", () => {
  test("of a branch is its own: one that takes too much ends, its family does not", async () => {
    await using runtime = await openTestRuntime({ limits: { memoryBytes: 256 * 2 ** 20 } });
    const session = await runtime.openSession();
    await session.execute("x = bytearray(150 * 2**20); x[::4096] = b'x' * len(x[::4096])").result;
    const fork = await session.fork();
    const greedy =
      "import mmap\nblock = mmap.mmap(-1, 2**28)\nfor _ in range(256): block.write(b'x' * 2**20)\nwhile True: pass";
    const result = await fork.execute(greedy).result;
    expect(result).toMatchObject({ status: "interrupted", reason: "memory", state: "lost" });
    expect(await valueOf(session, "len(x)")).toBe(String(150 * 2 ** 20));
    expect(await valueOf(fork, "1")).toBe("1");
  });

  test("of checkpoints is bounded too: the oldest is given up first", async () => {
    await using runtime = await openTestRuntime({ limits: { memoryBytes: 256 * 2 ** 20 } });
    const session = await runtime.openSession();
    const fill = "x = bytearray(100 * 2**20); x[::4096] = b'x' * len(x[::4096])";
    await session.execute(fill).result;
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      ids.push((await session.checkpoint()).id);
      await session.execute(`${fill}; y = ${n}`).result;
    }
    const running = session.execute("while True: pass"); // memory is looked at closely while code runs
    while (session.checkpoints().length > 2) await new Promise((resolve) => setImmediate(resolve));
    session.interrupt();
    await running.result;
    expect(session.checkpoints().map(({ id }) => id)).toEqual(ids.slice(-2));
    await expect(session.rewind("c1")).rejects.toThrow(/no longer, kept/);
    await session.rewind("c4");
    expect(await valueOf(session, "y")).toBe("2");
  });
});
