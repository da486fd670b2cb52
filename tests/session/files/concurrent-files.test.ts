// File operations while code runs, the worker dies, or a fork is made or closed.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SessionClosedError, WorkerLostError, type Runtime } from "../../internals.ts";
import { begin, openTestRuntime, valueOf, workFolderOf } from "../../open.ts";
import { skipInTierC } from "../../tier.ts";

const MIB = 2 ** 20;

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("during an execution", () => {
  test("no operation waits for running code", async () => {
    await using session = await runtime.openSession();
    const running = await begin(session, "print('up', flush=True)\nwhile True: pass");
    await session.files.write("d/f", "1");
    expect((await session.files.read("d/f")).toString()).toBe("1");
    expect((await session.files.list()).entries.length).toBe(1);
    await session.files.rename("d", "e");
    await session.files.remove("e");
    session.interrupt();
    expect(await running.result).toMatchObject({ status: "interrupted", state: "kept" });
  });

  test("many concurrent operations all end", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    await Promise.all(numbers.map((number) => session.files.write(`f${number}`, String(number))));
    const texts = await Promise.all(numbers.map(async (number) => (await session.files.read(`f${number}`)).toString()));
    expect(texts).toEqual(numbers.map(String));
  });

  test("an operation in the queue can be aborted", async () => {
    await using session = await runtime.openSession();
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    async function* slow(): AsyncGenerator<string> {
      yield "x";
      await gate;
    }
    const uploads = Array.from({ length: 8 }, (_, index) => session.files.write(`f${index}`, slow()));
    const controller = new AbortController();
    const waiting = session.files.read("f0", { signal: controller.signal });
    const next = session.files.write("next", "x");
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    release();
    await Promise.all(uploads);
    expect((await next).size).toBe(1);
  });

  test("files can be listed, described and removed while all transfers are stalled", async () => {
    await using session = await runtime.openSession();
    await session.files.write("there", "x");
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    async function* slow(): AsyncGenerator<string> {
      yield "x";
      await gate;
    }
    const uploads = Array.from({ length: 20 }, (_, index) => session.files.write(`f${index}`, slow()));
    expect((await session.files.list()).entries.map(({ name }) => name)).toContain("there");
    expect((await session.files.stat("there")).size).toBe(1);
    await session.files.remove("there");
    release();
    expect(await Promise.all(uploads)).toHaveLength(20);
  });

  test("an upload goes on when the worker dies, and the file is complete", async () => {
    await using session = await runtime.openSession();
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(MIB, 1);
      expect(await session.execute("import os; os._exit(3)").result).toMatchObject({ status: "exit", state: "lost" });
      yield Buffer.alloc(MIB, 2);
    }
    await session.files.write("f", source());
    expect(await valueOf(session, "d = open('f', 'rb').read(); (len(d), d[0], d[-1])")).toBe(`(${2 * MIB}, 1, 2)`);
  });

  test("an interrupt ends the processes of the code, not file jobs", async () => {
    await using session = await runtime.openSession();
    async function* source(): AsyncGenerator<string> {
      yield "before ";
      const code = "import subprocess\nsubprocess.Popen(['sleep', '1000'])\nprint('up', flush=True)\nwhile True: pass";
      const running = await begin(session, code);
      session.interrupt();
      expect(await running.result).toMatchObject({ status: "interrupted", state: "kept" });
      yield "after";
    }
    await session.files.write("f", source());
    expect((await session.files.read("f")).toString()).toBe("before after");
  });

  test("a session does not expire during a transfer", async () => {
    await using session = await runtime.openSession({ idleTimeoutMs: 100 });
    async function* source(): AsyncGenerator<string> {
      yield "slow ";
      await new Promise((resolve) => setTimeout(resolve, 300));
      yield "source";
    }
    expect((await session.files.write("f", source())).size).toBe(11);
  });

  test("a closed session refuses operations, and closing ends those in progress", async () => {
    const session = await runtime.openSession();
    async function* source(): AsyncGenerator<string> {
      yield "x";
      await session.close();
      yield "y";
    }
    await expect(session.files.write("f", source())).rejects.toThrow(SessionClosedError);
    await expect(session.files.read("f")).rejects.toThrow(SessionClosedError);
  });

  test("a job that code kills is reported as lost, and the next one works", async (context) => {
    skipInTierC(context, "code cannot kill all processes at once");
    await using session = await runtime.openSession();
    async function* source(): AsyncGenerator<string> {
      yield "x";
      const code = `import os, signal
while len([p for p in os.listdir('/proc') if p.isdigit()]) < 3: pass
os.kill(-1, signal.SIGKILL)`;
      (await session.execute(code).result).unwrap();
      yield "y";
    }
    await expect(session.files.write("f", source())).rejects.toThrow(WorkerLostError);
    expect((await session.files.write("f", "again")).size).toBe(5);
  });
});

describe("forks", () => {
  test("have their own files, by relative and by absolute path", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "shared");
    await using fork = await session.fork();
    const folder = (await valueOf(fork, "import os; os.getcwd()"))?.slice(1, -1) ?? "";
    await fork.files.write(`${folder}/f`, "the fork's");
    expect((await session.files.read("f")).toString()).toBe("shared");
    expect(await valueOf(fork, "open('f').read()")).toBe('"the fork\'s"');
    expect(await valueOf(session, "open('f').read()")).toBe("'shared'");
    const own = await workFolderOf(session);
    await expect(session.files.read(`${folder}/f`)).rejects.toThrow(`it is not below ${own}`);
  });

  test("closing a fork ends its operations, and none of the original's", async () => {
    await using session = await runtime.openSession();
    const fork = await session.fork();
    await using watch = await session.files.watch();
    const other = await fork.files.watch();
    async function* source(): AsyncGenerator<string> {
      yield "x";
      await fork.close();
      yield "y";
    }
    await expect(fork.files.write("f", source())).rejects.toThrow(SessionClosedError);
    for await (const _ of other) expect.unreachable();
    await session.files.write("after", "1");
    for await (const change of watch) {
      expect(change).toEqual({ type: "created", path: "after" });
      break;
    }
  });

  test("the files of a closed fork are gone, at any depth", async (context) => {
    skipInTierC(context, "code cannot list the folder of forks");
    await using session = await runtime.openSession({ limits: { diskBytes: 16 * MIB } });
    const fork = await session.fork();
    await valueOf(
      fork,
      `import os\nopen('big', 'wb').write(bytes(${12 * MIB}))\nfor _ in range(1500): os.mkdir('d'); os.chdir('d')\nNone`,
    );
    await fork.close();
    const code = `import os, time
deadline = time.monotonic() + 10
while os.listdir('/forks') and time.monotonic() < deadline: time.sleep(0.01)
os.listdir('/forks')`;
    expect(await valueOf(session, code)).toBe("[]");
    expect((await session.files.write("big", Buffer.alloc(12 * MIB))).size).toBe(12 * MIB);
  });
});
