// Sessions in WebAssembly, through a real runtime: what code can do there, and what it cannot.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { begin, openTestRuntime, valueOf } from "../../open.ts";
import { hasPyodide, installWasm } from "./open-wasm.ts";

const MIB = 2 ** 20;

describe.skipIf(!hasPyodide)("a session in wasm", () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-test-"));
  let runtime: Runtime;
  beforeAll(async () => {
    installWasm();
    runtime = await openTestRuntime({ environment: "wasm", poolSize: 2 });
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    "keeps its variables, prints in order, awaits, and shows tracebacks of user code only",
    { tags: "stress" },
    async () => {
      await using session = await runtime.openSession();
      expect(await valueOf(session, "x = 40\nx + 2")).toBe("42");
      const code = "import sys\nfor i in range(3):\n  print(i); print(-i, file=sys.stderr)";
      const { stdout, stderr } = await session.execute(code).result;
      expect([stdout, stderr]).toEqual(["0\n1\n2\n", "0\n-1\n-2\n"]);
      expect(
        await valueOf(session, "import asyncio\nawait asyncio.gather(*[asyncio.sleep(0.01, i) for i in range(3)])"),
      ).toBe("[0, 1, 2]");
      const failed = await session.execute("def f(): return 1 / 0\nf()").result;
      expect(failed.status === "error" && failed.error.traceback.match(/File "([^"]*)"/g)).toEqual([
        'File "<cell 4>"',
        'File "<cell 4>"',
      ]);
    },
  );

  test("an interrupt ends time.sleep(), and the state stays", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    await session.execute("x = 1").result;
    const execution = await begin(session, "import time; print('up', flush=True); time.sleep(1000)");
    session.interrupt();
    expect((await execution.result).status).toBe("interrupted");
    expect(await valueOf(session, "x")).toBe("1");
  });

  test(
    "code that swallows every exception is killed after the time limit, and the session starts anew",
    { tags: "stress" },
    async () => {
      await using session = await runtime.openSession();
      const code = "while True:\n  try:\n    while True: pass\n  except BaseException: pass";
      const result = await session.execute(code, { timeoutMs: 500 }).result;
      expect(result).toMatchObject({ status: "interrupted", reason: "timeout" });
      expect(await valueOf(session, "1 + 1")).toBe("2");
    },
  );

  // The program itself takes up to 192 MiB, and Python gets 64 MiB at least.
  test.each([
    [256, 30],
    [512, 250],
  ])(
    "with a limit of %i MiB code gets more than %i MiB, then a MemoryError, and the session lives",
    async (limit, least) => {
      await using session = await runtime.openSession({ limits: { memoryBytes: limit * MIB } });
      await session.execute("x = 5").result;
      const result = await session.execute("b = []\nwhile True: b.append(bytearray(1 << 20))").result;
      expect(result).toMatchObject({ status: "error", error: { name: "MemoryError" } });
      expect(Number(await valueOf(session, "n = len(b); b = None; n"))).toBeGreaterThan(least);
      expect(await valueOf(session, "x")).toBe("5");
    },
  );

  test.each([64, 191])("a limit of %i MiB, with which a worker does not live, is refused at once", async (limit) => {
    const limits = { memoryBytes: limit * MIB };
    const message = `Cannot use ${limit * MIB} as limits.memoryBytes in environment 'wasm': it must be a whole number of at least ${192 * MIB}`;
    await expect(runtime.openSession({ limits })).rejects.toThrow(new RangeError(message));
    await expect(openTestRuntime({ environment: "wasm", limits })).rejects.toThrow(new RangeError(message));
    await using local = await openTestRuntime({ limits, poolSize: 0 });
    await expect(local.openSession({ environment: "wasm" })).rejects.toThrow(new RangeError(message));
    expect(runtime.sessions.list()).toEqual([]);
  });

  test("with the least memory code runs, and its errors leave the session alive", async () => {
    await using session = await runtime.openSession({ limits: { memoryBytes: 192 * MIB } });
    expect(await valueOf(session, "import json; len(json.dumps(list(range(100_000))))")).toBe("688890");
    const result = await session.execute("b = []\nwhile True: b.append(bytearray(1 << 20))").result;
    expect(result).toMatchObject({ status: "error", error: { name: "MemoryError" } });
  });

  test("a flood of output is bounded, and can be interrupted", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const execution = session.execute("while True: print('x' * 1000)", { timeoutMs: 2000 });
    expect(await execution.result).toMatchObject({ status: "interrupted", reason: "timeout" });
    expect(await valueOf(session, "1 + 1")).toBe("2");
  });

  test("input() and calls to the host wait for the answer", async () => {
    await using session = await runtime.openSession();
    const result = await session.execute("input('name? ')", { onInput: async () => "Ann" }).result;
    expect(result.value?.["text/plain"]).toBe("'Ann'");
  });

  test("what it does not have says so, with what to use instead", async () => {
    await using session = await runtime.openSession();
    const why = async (code: string): Promise<string> => {
      const result = await session.execute(code).result;
      return result.status === "error" ? `${result.error.name}: ${result.error.value}` : result.status;
    };
    expect(await why("import subprocess; subprocess.run(['ls'])")).toMatch(
      /OSError: .*capability 'processes'.*'local'/,
    );
    expect(await why("import threading; threading.Thread(target=print).start()")).toMatch(
      /RuntimeError: .*'threads'.*asyncio/,
    );
    expect(await why("import os; os.fork()")).toMatch(/OSError: .*capability 'processes'/);
    expect(await why("import socket; socket.create_connection(('127.0.0.1', 1))")).toMatch(/OSError: .*'network'/);
    expect(await why("import tkinter")).toMatch(/ModuleNotFoundError: .*'wasm' environment does not have/);
    await expect(session.fork()).rejects.toMatchObject({ capability: "fork" });
  });

  test("sessions draw different random numbers, though they start from one snapshot", { tags: "stress" }, async () => {
    const draw = "import random, uuid, tempfile; (random.random(), uuid.uuid4().hex, tempfile.mktemp())";
    await using first = await runtime.openSession();
    await using second = await runtime.openSession();
    expect(await valueOf(first, draw)).not.toBe(await valueOf(second, draw));
  });

  test("a mounted folder is read-only or writable as declared, and a link in it leads nowhere else", async () => {
    for (const name of ["ro", "rw"]) mkdirSync(join(folder, name), { mode: 0o777 });
    writeFileSync(join(folder, "ro", "f"), "shared");
    const mounts = (["ro", "rw"] as const).map((mode) => ({ path: join(folder, mode), mode }));
    await using session = await runtime.openSession({ mounts });
    expect(await valueOf(session, `open('${folder}/ro/f').read(), open('ro/f').read()`)).toBe("('shared', 'shared')");
    expect(await session.execute(`open('${folder}/ro/g', 'w')`).result).toMatchObject({ status: "error" });
    expect(await valueOf(session, `open('${folder}/rw/g', 'w').write('x')`)).toBe("1");
  });

  test("files of the session are there for the host, and those of the host for the session", async () => {
    await using session = await runtime.openSession();
    await session.files.write("in.txt", "from the host");
    expect(await valueOf(session, "open('in.txt').read()")).toBe("'from the host'");
    await session.execute("open('out.txt', 'w').write('from inside')").result;
    expect(Buffer.from(await session.files.read("out.txt")).toString()).toBe("from inside");
  });

  test("an inspection that takes too long is interrupted, and the session goes on", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const slow = "import time\nclass Slow:\n  def __repr__(self):\n    while True: pass\nx = Slow()";
    await session.execute(slow).result;
    expect(await session.inspect("x", { timeoutMs: 200 })).toMatchObject({ incomplete: "timeout" });
    expect(await valueOf(session, "x = 1; x")).toBe("1");
  });

  test(
    "an inspection that no interrupt ends costs its worker, and code that waits for it runs in the next one",
    { tags: "stress" },
    async () => {
      await using session = await runtime.openSession();
      const stubborn =
        "import itertools\nclass Stubborn:\n  def __dir__(self): sum(itertools.repeat(0))\nx = Stubborn()";
      await session.execute(stubborn).result;
      const failing = session.complete("x.a", 3, { timeoutMs: 200 }).catch((error: unknown) => error);
      const other = session.complete("pri", 3, { timeoutMs: 200 }).catch((error: unknown) => error); // waits for its turn
      await new Promise(setImmediate); // the first was sent
      const waiting = session.execute("1 + 1", { timeoutMs: 3000 });
      expect(await failing).toMatchObject({
        code: "INSPECTION_FAILED",
        why: "it timed out; the worker was replaced and the session's state is lost",
      });
      expect(await waiting.result).toMatchObject({ status: "ok", epoch: 2 });
      expect(await other).toMatchObject({ name: "CapabilityMissingError", capability: "inspectWhileRunning" });
      expect(await session.execute("x").result).toMatchObject({ error: { name: "NameError" } });
    },
  );

  test("variables are listed while code runs, and inspected while none runs", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    await session.execute("x = [1, 2, 3]").result;
    expect(await session.inspect("x")).toMatchObject({ incomplete: null });
    const execution = await begin(session, "print('up', flush=True)\nwhile True: pass");
    expect((await session.variables()).variables.map(({ name }) => name)).toContain("x");
    session.interrupt();
    await execution.result;
  });
});
