// Checkpoints, rewinding, undo, and their memory limits.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { COMMAND_LINES, openTestRuntime, valueOf } from "../../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("checkpoint() and rewind()", () => {
  test("restore the namespace any number of times, without the files", async () => {
    await using session = await runtime.openSession();
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

  test("leave nothing of the abandoned state running", async () => {
    await using session = await runtime.openSession();
    const checkpoint = await session.checkpoint();
    await session.execute("import subprocess; subprocess.Popen(['sleep', '1357911'], start_new_session=True)").result;
    await session.rewind(checkpoint);
    expect(await valueOf(session, `b'1357911' in ${COMMAND_LINES}`)).toBe("False");
  });

  test("accept the id of a checkpoint, and list the known ones for an unknown id", async () => {
    await using session = await runtime.openSession();
    await expect(session.rewind("c1")).rejects.toThrow(/no longer kept; there are none/);
    await session.checkpoint();
    await session.execute("x = 1").result;
    await expect(session.rewind("c9")).rejects.toThrow(/there are: c1/);
    expect(await valueOf(session, "x")).toBe("1");
    await session.rewind("c1");
    expect((await session.execute("x").result).error?.name).toBe("NameError");
  });

  test.each<[string, string, object, (number | null)?]>([
    ["a crash", "import os; os.kill(os.getpid(), 9)", { status: "interrupted", reason: "worker-lost" }],
    ["an exit of the process", "import os; os._exit(3)", { status: "exit", exitCode: 3 }],
    [
      "a timeout that had to kill",
      "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)",
      { status: "interrupted", reason: "timeout" },
      100,
    ],
    [
      "too much memory",
      "import mmap; x = 'lost'\nblocks = [mmap.mmap(-1, 2**26) for _ in range(8)]\n" +
        "for block in blocks: block.write(b'x' * 2**26)\nwhile True: pass",
      { status: "interrupted", reason: "memory" },
    ],
  ])("bring the state back after %s", async (_, code, expected, timeoutMs = null) => {
    await using session = await runtime.openSession({ limits: { memoryBytes: 256 * 2 ** 20 } });
    await session.execute("x = 'kept'; source = (n for n in range(9)); next(source)").result;
    await session.checkpoint();
    const events: string[] = [];
    session.subscribe((event) => void (event.type === "session-reset" && events.push(event.why)));
    const result = await session.execute(code, { timeoutMs }).result;
    expect(result).toMatchObject({ ...expected, state: "restored", epoch: 2 });
    expect(await valueOf(session, "x, next(source)")).toBe("('kept', 1)");
    expect(events).toEqual(["restored"]);
  });

  test("restore the state when the worker ends while nothing runs", async () => {
    await using session = await runtime.openSession();
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

  test("do not restore a state from before a reset, unless requested", async () => {
    await using session = await runtime.openSession();
    await session.execute("x = 1").result;
    const checkpoint = await session.checkpoint();
    await session.reset();
    expect(await session.execute("import os; os._exit(1)").result).toMatchObject({ state: "lost" });
    expect((await session.execute("x").result).error?.name).toBe("NameError");
    await session.rewind(checkpoint);
    expect(await valueOf(session, "x")).toBe("1");
    expect(await session.execute("import os; os._exit(1)").result).toMatchObject({ state: "restored" });
  });

  test("restore the checkpoint that the session last was at", async () => {
    await using session = await runtime.openSession();
    await session.execute("x = 1").result;
    const one = await session.checkpoint();
    await session.execute("x = 2").result;
    await session.checkpoint();
    await session.rewind(one);
    await session.execute("import os; os._exit(1)").result;
    expect(await valueOf(session, "x")).toBe("1");
  });

  test("copy 500 MB of objects into 50 branches that share unchanged memory", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    await session.execute("block = bytearray(500 * 2**20); block[::4096] = b'x' * len(block[::4096])").result;
    const checkpoints = [];
    for (let n = 0; n < 49; n += 1) checkpoints.push(await session.checkpoint());
    await using fork = await session.fork();
    await fork.execute("block[0] = 7").result;
    await session.rewind(checkpoints[17] ?? "");
    expect(await valueOf(session, "block[0], len(block)")).toBe(`(120, ${500 * 2 ** 20})`);
    expect(await valueOf(fork, "block[0]")).toBe("7");
    await expect(session.checkpoint()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });
});

describe("undo()", () => {
  test("takes back one execution after another, as many as are kept", async () => {
    await using session = await runtime.openSession({ autoCheckpoint: 3 });
    for (let n = 1; n <= 5; n += 1) await session.execute(`n = ${n}`).result;
    for (const before of ["4", "3", "2"]) {
      await session.undo();
      await using fork = await session.fork();
      expect(await valueOf(fork, "n")).toBe(before);
      await fork.close();
    }
    await expect(session.undo()).rejects.toThrow(/no earlier state is kept/);
  });

  test("reports that it is off, or that no copy could be made", async () => {
    await using plain = await runtime.openSession();
    await plain.execute("x = 1").result;
    await expect(plain.undo()).rejects.toThrow(/autoCheckpoint is off/);
    await using session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("import threading; stop = threading.Event(); threading.Thread(target=stop.wait).start()")
      .result;
    await session.execute("x = 2").result;
    await expect(session.undo()).rejects.toThrow(/a thread of it is alive/);
    expect(await valueOf(session, "stop.set(); x")).toBe("2");
  });

  test("takes back what came before the checkpoint after a rewind", async () => {
    await using session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("x = 1").result;
    await session.execute("x = 2").result;
    const checkpoint = await session.checkpoint();
    await session.execute("x = 3").result;
    await session.execute("x = 4").result;
    await session.rewind(checkpoint);
    await session.undo();
    expect(await valueOf(await session.fork(), "x")).toBe("1");
  });

  test("does not count an incomplete cell, of which nothing ran", async () => {
    await using session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("x = 1").result;
    await session.execute("x = 2").result;
    expect((await session.execute("def f(:\n").result).status).toBe("error");
    expect((await session.execute("def f():").result).incomplete).toBe(true);
    await session.undo();
    await session.undo();
    expect(await valueOf(session, "x")).toBe("1");
  });

  test("does not count an execution that was cancelled before it started", async () => {
    await using session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("x = 1").result;
    await session.execute("x = 2").result;
    const controller = new AbortController();
    const cancelled = session.execute("x = 3", { signal: controller.signal });
    controller.abort();
    expect((await cancelled.result).status).toBe("interrupted");
    await session.undo();
    await using fork = await session.fork();
    expect(await valueOf(fork, "x")).toBe("1");
  });

  test("drops the oldest checkpoint when the limit of branches is reached", async () => {
    await using session = await runtime.openSession({ autoCheckpoint: true, limits: { branches: 2 } });
    for (let n = 1; n <= 4; n += 1) await session.execute(`n = ${n}`).result;
    await session.undo();
    await session.undo();
    await expect(session.undo()).rejects.toThrow(/no earlier state is kept/);
    await using fork = await session.fork();
    expect(await valueOf(fork, "n")).toBe("2");
  });

  test("restores the state after an execution that killed its worker", async () => {
    await using session = await runtime.openSession({ autoCheckpoint: true });
    await session.execute("x = [1]").result;
    await session.execute("x.append(2)").result;
    expect(await session.execute("x.clear(); import os; os._exit(9)").result).toMatchObject({ state: "restored" });
    expect(await valueOf(session, "x")).toBe("[1, 2]");
  });
});

describe("memory", () => {
  test("is limited for each branch: one that takes too much ends, the others do not", async () => {
    await using session = await runtime.openSession({ limits: { memoryBytes: 256 * 2 ** 20 } });
    await session.execute("x = bytearray(150 * 2**20); x[::4096] = b'x' * len(x[::4096])").result;
    await using fork = await session.fork();
    const greedy =
      "import mmap\nblock = mmap.mmap(-1, 2**28)\nfor _ in range(256): block.write(b'x' * 2**20)\nwhile True: pass";
    const result = await fork.execute(greedy).result;
    expect(result).toMatchObject({ status: "interrupted", reason: "memory", state: "lost" });
    expect(await valueOf(session, "len(x)")).toBe(String(150 * 2 ** 20));
    expect(await valueOf(fork, "1")).toBe("1");
  });

  test("of checkpoints is limited, and the oldest is dropped first", { tags: "stress" }, async () => {
    await using session = await runtime.openSession({ limits: { memoryBytes: 256 * 2 ** 20 } });
    const fill = "x = bytearray(100 * 2**20); x[::4096] = b'x' * len(x[::4096])";
    await session.execute(fill).result;
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      ids.push((await session.checkpoint()).id);
      await session.execute(`${fill}; y = ${n}`).result;
    }
    const running = session.execute("while True: pass"); // memory is watched closely while code runs
    while (session.checkpoints().length > 2) await new Promise((resolve) => setImmediate(resolve));
    session.interrupt();
    await running.result;
    expect(session.checkpoints().map(({ id }) => id)).toEqual(ids.slice(-2));
    await expect(session.rewind("c1")).rejects.toThrow(/no longer kept/);
    await session.rewind("c4");
    expect(await valueOf(session, "y")).toBe("2");
  });
});
