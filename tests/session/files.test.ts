// The files of a session, as a caller has them, in a real sandbox.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  FileError,
  REPLSecurityError,
  SessionClosedError,
  WorkerLostError,
  type Execution,
  type FileChange,
  type FileWatch,
  type Runtime,
  type Session,
} from "../../src/index.ts";
import { openTestRuntime, valueOf } from "../open.ts";

const MIB = 2 ** 20;

let runtime: Runtime;
let scratch: string;
beforeAll(async () => {
  runtime = await openTestRuntime();
  scratch = mkdtempSync(join(tmpdir(), "rlm-files-"));
});
afterAll(async () => {
  await runtime.close();
  rmSync(scratch, { recursive: true });
});

/** Runs code that prints a line when it is under way. */
async function begin(session: Session, code: string): Promise<Execution> {
  const execution = session.execute(code);
  for await (const event of execution) if (event.type === "output-delta") break;
  return execution;
}

const reasonOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "it worked",
    (error: unknown) => (error instanceof FileError ? error.reason : error),
  );

describe("write and read", () => {
  test("carry every byte both ways", async () => {
    await using session = await runtime.openSession();
    const bytes = randomBytes(300_000);
    const entry = await session.files.write("data.bin", bytes);
    expect(entry).toEqual({
      name: "data.bin",
      path: "data.bin",
      type: "file",
      size: 300_000,
      modifiedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      mode: 0o644,
    });
    await valueOf(session, "open('copy.bin', 'wb').write(open('data.bin', 'rb').read())");
    expect((await session.files.read("copy.bin")).equals(bytes)).toBe(true);
  });

  test("text is written as UTF-8, and an empty file is a file", async () => {
    await using session = await runtime.openSession();
    await session.files.write("text", "größe 🐍");
    expect(await valueOf(session, "open('text', encoding='utf-8').read()")).toBe("'größe 🐍'");
    await session.files.write("empty", "");
    expect((await session.files.read("empty")).length).toBe(0);
  });

  test("write makes the folders, keeps permissions of what it replaces, and leaves nothing else behind", async () => {
    await using session = await runtime.openSession();
    await session.files.write("a/b/run.sh", "old");
    await valueOf(session, "import os; os.chmod('a/b/run.sh', 0o755)");
    expect(await session.files.write("a/b/run.sh", "new")).toMatchObject({ path: "a/b/run.sh", mode: 0o755, size: 3 });
    expect(await valueOf(session, "(open('a/b/run.sh').read(), os.listdir('a/b'))")).toBe("('new', ['run.sh'])");
  });

  test("a reader of the old content keeps it while the new one takes its place", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "old");
    await valueOf(session, "f = open('f')");
    await session.files.write("f", "new");
    expect(await valueOf(session, "(f.read(), open('f').read())")).toBe("('old', 'new')");
  });

  test("a part of a file is read by offset and length", async () => {
    await using session = await runtime.openSession();
    await session.files.write("digits", "0123456789");
    const read = async (options: object): Promise<string> => (await session.files.read("digits", options)).toString();
    expect(await read({ offset: 3, length: 4 })).toBe("3456");
    expect(await read({ offset: 8, length: 100 })).toBe("89");
    expect(await read({ offset: 50 })).toBe("");
    expect(await read({ length: 0 })).toBe("");
  });

  test("more than maxBytes is refused before anything is moved; a part of it is not", async () => {
    await using session = await runtime.openSession();
    await valueOf(session, `open('big', 'wb').truncate(${65 * MIB})`);
    expect(await reasonOf(session.files.read("big"))).toBe("too-large");
    expect(await reasonOf(session.files.read("big", { maxBytes: 10 }))).toBe("too-large");
    expect((await session.files.read("big", { offset: 64 * MIB, maxBytes: MIB })).length).toBe(MIB);
  });

  test("paths may be relative, absolute below the working directory, or wander inside it", async () => {
    await using session = await runtime.openSession();
    await session.files.write("/work/sub/f", "1");
    for (const path of ["sub/f", "./sub/f", "sub/../sub//f", "/work/./sub/f"]) {
      expect((await session.files.read(path)).toString()).toBe("1");
    }
    expect((await session.files.stat("/work")).path).toBe(".");
  });

  test("a link that stays inside is followed, relative or absolute, also by a write", async () => {
    await using session = await runtime.openSession();
    await session.files.write("real/f", "1");
    await valueOf(session, "import os; os.symlink('real', 'folder'); os.symlink('/work/real/f', 'real/link')");
    expect((await session.files.read("folder/link")).toString()).toBe("1");
    await session.files.write("folder/link", "2");
    expect(await valueOf(session, "(os.path.islink('real/link'), open('real/f').read())")).toBe("(True, '2')");
  });

  test("names that are not UTF-8, or hold a newline, are listed, read and removed", async () => {
    await using session = await runtime.openSession();
    await valueOf(session, String.raw`open(b'odd-\xff\xfe', 'w').write('x'); open('two\nlines', 'w').write('y')`);
    const { entries } = await session.files.list();
    expect(entries.map(({ name }) => name)).toEqual(["odd-\udcff\udcfe", "two\nlines"]);
    for (const { path } of entries) expect((await session.files.read(path)).length).toBe(1);
    await session.files.write("new-\udc80", "z");
    expect(await valueOf(session, String.raw`import os; os.path.exists(b'new-\x80')`)).toBe("True");
    for (const { path } of entries) await session.files.remove(path);
    expect(await valueOf(session, "len(os.listdir())")).toBe("1");
  });
});

describe("streams", () => {
  test("a file of the host goes in and comes out with every byte, and never sits in memory", async () => {
    await using session = await runtime.openSession();
    const source = join(scratch, "source");
    writeFileSync(source, randomBytes(MIB));
    truncateSync(source, 300 * MIB);
    let peak = process.memoryUsage.rss();
    const before = peak;
    const timer = setInterval(() => void (peak = Math.max(peak, process.memoryUsage.rss())), 5);
    await session.files.writeFrom("big", source);
    const target = join(scratch, "target");
    expect(await session.files.readTo("big", target)).toEqual({ size: 300 * MIB });
    clearInterval(timer);
    expect((peak - before) / MIB).toBeLessThan(128);
    expect(readFileSync(target).equals(readFileSync(source))).toBe(true);
    rmSync(source);
    rmSync(target);
  });

  test("a source that stalls is given up when the call is aborted, and with the session", async () => {
    const session = await runtime.openSession();
    async function* stalls(then: () => unknown): AsyncGenerator<string> {
      yield "a";
      then();
      await new Promise(() => {});
    }
    const controller = new AbortController();
    const abort = (): void => controller.abort(new Error("enough"));
    await expect(session.files.write("f", stalls(abort), { signal: controller.signal })).rejects.toThrow("enough");
    expect((await session.files.list()).entries).toEqual([]);
    const close = (): unknown => void session.close();
    await expect(session.files.write("f", stalls(close))).rejects.toThrow(SessionClosedError);
  });

  test("writeFrom takes files only: a named pipe that nobody writes to holds nothing up", async () => {
    await using session = await runtime.openSession();
    const pipe = join(scratch, "pipe");
    execFileSync("mkfifo", [pipe]);
    const reasons = { [pipe]: "not-a-file", [scratch]: "is-a-folder", [join(scratch, "none")]: "not-found" };
    for (const [path, reason] of Object.entries(reasons)) {
      await expect(session.files.writeFrom("f", path)).rejects.toMatchObject({ code: "FILE", path, reason });
    }
    await expect(session.files.writeFrom("../f", import.meta.filename)).rejects.toThrow(REPLSecurityError);
  });

  test("open() tells size and time before the first piece, through links too, and can be closed unread", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "0123456789");
    await valueOf(session, "import os; os.symlink('f', 'link'); os.utime('f', (1, 1))");
    const file = await session.files.open("link", { offset: 4 });
    expect(file).toMatchObject({ size: 10, modifiedAt: "1970-01-01T00:00:01.000Z" });
    expect(await text(file.pieces)).toBe("456789");
    // More than there are places for such operations.
    for (let count = 0; count < 20; count += 1) (await session.files.open("f")).close();
    expect(await reasonOf(session.files.open("."))).toBe("is-a-folder");
    expect(await reasonOf(session.files.open("none"))).toBe("not-found");
  });

  test("write takes an async iterable of text and bytes, and readStream gives what is taken", async () => {
    await using session = await runtime.openSession();
    async function* pieces(): AsyncGenerator<string | Uint8Array> {
      yield "one ";
      yield new Uint8Array(0);
      yield Buffer.from("two ");
      yield "three";
    }
    expect((await session.files.write("f", pieces())).size).toBe(13);
    await valueOf(session, `open('big', 'wb').write(bytes(${8 * MIB})); None`);
    let size = 0;
    for await (const chunk of session.files.readStream("big", { offset: 5 })) {
      size += chunk.length;
      if (size > MIB) break;
    }
    expect(size).toBeLessThan(2 * MIB);
    expect((await session.files.read("f")).toString()).toBe("one two three");
  });

  test("a write whose source fails, or that is aborted, changes nothing and leaves no temporary file", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "old");
    async function* failing(): AsyncGenerator<string> {
      yield "half";
      throw new Error("the source broke");
    }
    await expect(session.files.write("f", failing())).rejects.toThrow("the source broke");
    const controller = new AbortController();
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (let count = 0; ; count += 1) {
        if (count === 20) controller.abort(new Error("enough"));
        yield new Uint8Array(MIB);
      }
    }
    await expect(session.files.write("f", endless(), { signal: controller.signal })).rejects.toThrow("enough");
    expect(await valueOf(session, "import os; (open('f').read(), os.listdir())")).toBe("('old', ['f'])");
  });

  test("readTo leaves what is on the host as it is when there is nothing to read", async () => {
    await using session = await runtime.openSession();
    const target = join(scratch, "kept");
    writeFileSync(target, "mine");
    expect(await reasonOf(session.files.readTo("absent", target))).toBe("not-found");
    expect(readFileSync(target, "utf8")).toBe("mine");
    expect(readdirSync(scratch).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});

describe("list, stat, makeFolder, rename, remove", () => {
  test("list is sorted, says what each name is, and goes as deep as asked", async () => {
    await using session = await runtime.openSession();
    await session.files.write("b/c/deep", "123");
    await session.files.write("a", "1");
    await valueOf(session, "import os; os.symlink('/etc/passwd', 'l'); os.mkfifo('p')");
    const shallow = await session.files.list();
    expect(shallow.omitted).toBe(0);
    expect(shallow.entries.map(({ name, type, size, target }) => [name, type, size, target])).toEqual([
      ["a", "file", 1, undefined],
      ["b", "folder", 0, undefined],
      ["l", "link", 0, "/etc/passwd"],
      ["p", "other", 0, undefined],
    ]);
    const deep = await session.files.list("b", { depth: 5 });
    expect(deep.entries.map(({ path }) => path)).toEqual(["b/c", "b/c/deep"]);
  });

  test("list keeps 10,000 entries and says how many it left out", async () => {
    await using session = await runtime.openSession();
    await valueOf(session, "for i in range(10_007): open(f'{i:05}', 'w')");
    const { entries, omitted } = await session.files.list();
    expect([entries.length, omitted, entries.at(-1)?.name]).toEqual([10_000, 7, "09999"]);
  });

  test("makeFolder says whether it made one", async () => {
    await using session = await runtime.openSession();
    expect(await session.files.makeFolder("x/y")).toBe(true);
    expect(await session.files.makeFolder("x/y")).toBe(false);
    expect(await session.files.makeFolder(".")).toBe(false);
    await session.files.write("f", "");
    expect(await reasonOf(session.files.makeFolder("f"))).toBe("exists");
  });

  test("rename moves files and folders, makes folders on the way, replaces a file", async () => {
    await using session = await runtime.openSession();
    await session.files.write("from/f", "1");
    await session.files.write("g", "2");
    expect(await session.files.rename("from", "to/here")).toMatchObject({ path: "to/here", type: "folder" });
    expect(await session.files.rename("g", "to/here/f")).toMatchObject({ path: "to/here/f", size: 1 });
    expect((await session.files.read("to/here/f")).toString()).toBe("2");
    expect(await session.files.exists("from")).toBe(false);
    expect(await reasonOf(session.files.rename("absent", "new/x"))).toBe("not-found");
    expect(await session.files.exists("new")).toBe(false);
  });

  test("remove takes a folder with all that is in it, and a link without what it leads to", async () => {
    await using session = await runtime.openSession();
    await session.files.write("keep/f", "1");
    await session.files.write("gone/deep/f", "1");
    await valueOf(session, "import os; os.symlink('../keep', 'gone/link'); os.symlink('keep', 'link')");
    await session.files.remove("gone");
    await session.files.remove("link");
    expect((await session.files.list(".", { depth: 3 })).entries.map(({ path }) => path)).toEqual(["keep", "keep/f"]);
  });

  test.each([
    ["read", "absent", "not-found"],
    ["read", "folder", "is-a-folder"],
    ["read", "file/below", "not-a-folder"],
    ["write", "folder", "is-a-folder"],
    ["write", "file/below", "not-a-folder"],
    ["write", ".", "is-a-folder"],
    ["list", "file", "not-a-folder"],
    ["list", "absent", "not-found"],
    ["stat", "absent", "not-found"],
    ["remove", "absent", "not-found"],
    ["remove", ".", "denied"],
    ["watch", "file", "not-a-folder"],
    ["makeFolder", "file/x", "not-a-folder"],
  ] as const)("%s of '%s' fails with reason %s", async (operation, path, reason) => {
    await using session = await runtime.openSession();
    await session.files.write("file", "1");
    await session.files.makeFolder("folder");
    const work = operation === "write" ? session.files.write(path, "x") : session.files[operation](path);
    expect(await reasonOf(work)).toBe(reason);
  });

  test("a path or content that is none is a mistake of the caller's", async () => {
    await using session = await runtime.openSession();
    const wrong = session.files as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    for (const path of [7, null, undefined]) await expect(wrong["stat"]?.(path)).rejects.toThrow(TypeError);
    for (const path of ["", "x".repeat(5000), "half \ud800"]) {
      await expect(session.files.stat(path)).rejects.toThrow(RangeError);
    }
    await expect(wrong["write"]?.("f", 7)).rejects.toThrow(TypeError);
    await expect(session.files.read("f", { offset: -1 })).rejects.toThrow(RangeError);
    await expect(session.files.list(".", { depth: 0 })).rejects.toThrow(RangeError);
  });

  test("an error names the path, what was tried and why it failed", async () => {
    await using session = await runtime.openSession();
    const error: unknown = await session.files.read("no/such").catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "FILE",
      path: "no/such",
      reason: "not-found",
      message: "Cannot read 'no/such': no such file or directory",
    });
  });
});

describe("beside an execution", () => {
  test("nothing waits for code that runs", async () => {
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

  test("many operations at once all end", async () => {
    await using session = await runtime.openSession();
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    await Promise.all(numbers.map((number) => session.files.write(`f${number}`, String(number))));
    const texts = await Promise.all(numbers.map(async (number) => (await session.files.read(`f${number}`)).toString()));
    expect(texts).toEqual(numbers.map(String));
  });

  test("one that waits for its turn can be given up", async () => {
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

  test("however many transfers stand still, files can be listed, looked at and removed", async () => {
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

  test("an upload goes on when the worker dies, and the file is whole", async () => {
    await using session = await runtime.openSession();
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(MIB, 1);
      expect(await session.execute("import os; os._exit(3)").result).toMatchObject({ status: "exit", state: "lost" });
      yield Buffer.alloc(MIB, 2);
    }
    await session.files.write("f", source());
    expect(await valueOf(session, "d = open('f', 'rb').read(); (len(d), d[0], d[-1])")).toBe(`(${2 * MIB}, 1, 2)`);
  });

  test("an interrupt ends the processes of the code, not those that move files", async () => {
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

  test("a session is not idle while a file is on its way", async () => {
    await using session = await runtime.openSession({ idleTimeoutMs: 100 });
    async function* source(): AsyncGenerator<string> {
      yield "slow ";
      await new Promise((resolve) => setTimeout(resolve, 300));
      yield "source";
    }
    expect((await session.files.write("f", source())).size).toBe(11);
  });

  test("a closed session refuses, and closing ends what is under way", async () => {
    const session = await runtime.openSession();
    async function* source(): AsyncGenerator<string> {
      yield "x";
      await session.close();
      yield "y";
    }
    await expect(session.files.write("f", source())).rejects.toThrow(SessionClosedError);
    await expect(session.files.read("f")).rejects.toThrow(SessionClosedError);
  });

  test("a job that code kills is told as lost, and the next one works", async () => {
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
  test("each has its own files, by relative path and by the folder it sees", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "shared");
    await using fork = await session.fork();
    const folder = (await valueOf(fork, "import os; os.getcwd()"))?.slice(1, -1) ?? "";
    await fork.files.write(`${folder}/f`, "the fork's");
    expect((await session.files.read("f")).toString()).toBe("shared");
    expect(await valueOf(fork, "open('f').read()")).toBe('"the fork\'s"');
    expect(await valueOf(session, "open('f').read()")).toBe("'shared'");
    await expect(session.files.read(`${folder}/f`)).rejects.toThrow("it is not below /work");
  });

  test("what a closed fork was doing ends with it, and nothing of the original's does", async () => {
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

  test("files of a closed fork are gone, however deep they are", async () => {
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

describe("watch", () => {
  /** The next changes, as [type, path] or [type, path, from]. */
  async function take(changes: AsyncIterator<FileChange>, count: number): Promise<string[][]> {
    const taken: string[][] = [];
    while (taken.length < count) {
      const { value, done } = (await changes.next()) as IteratorResult<FileChange, undefined>;
      if (done) break;
      taken.push(value.type === "renamed" ? [value.type, value.path, value.from] : [value.type, value.path]);
    }
    return taken;
  }

  test("tells what is created, modified, renamed and removed, by code and from outside", async () => {
    await using session = await runtime.openSession();
    await using watch = await session.files.watch();
    await valueOf(
      session,
      "import os; f = open('a', 'w'); f.write('x'); f.close(); os.rename('a', 'b'); os.remove('b')",
    );
    await session.files.write("c", "1");
    await session.files.rename("c", "d");
    expect(await take(watch[Symbol.asyncIterator](), 6)).toEqual([
      ["created", "a"],
      ["modified", "a"],
      ["renamed", "b", "a"],
      ["removed", "b"],
      ["created", "c"],
      ["renamed", "d", "c"],
    ]);
  });

  test("recursive: also in folders that are made later, under the names they have then", async () => {
    await using session = await runtime.openSession();
    await session.files.makeFolder("old");
    await using watch = await session.files.watch(".", { recursive: true });
    const changes = watch[Symbol.asyncIterator]();
    await session.files.write("old/f", "1");
    expect(await take(changes, 1)).toEqual([["created", "old/f"]]);
    await session.files.makeFolder("new/deep");
    expect(await take(changes, 2)).toEqual([
      ["created", "new"],
      ["created", "new/deep"],
    ]);
    await session.files.rename("new", "moved");
    expect(await take(changes, 1)).toEqual([["renamed", "moved", "new"]]);
    await session.files.write("moved/deep/g", "1");
    expect(await take(changes, 1)).toEqual([["created", "moved/deep/g"]]);
  });

  test("what went elsewhere is removed; when the folder itself goes, the watch ends", async () => {
    await using session = await runtime.openSession();
    await session.files.write("w/f", "1");
    const watch = await session.files.watch("w");
    await session.files.rename("w/f", "elsewhere");
    await session.files.remove("w");
    const seen: FileChange[] = [];
    for await (const change of watch) seen.push(change);
    expect(seen).toEqual([
      { type: "removed", path: "w/f" },
      { type: "removed", path: "w" },
    ]);
  });

  test("a reader that does not read loses changes, and is told so", async () => {
    await using session = await runtime.openSession();
    await using watch = await session.files.watch();
    await valueOf(session, "import os\nfor i in range(60_000): os.mkdir('x' * 100); os.rmdir('x' * 100)");
    await session.files.write("end", "");
    let overflow: FileChange | undefined;
    let count = 0;
    for await (const change of watch) {
      count += 1;
      if (change.type === "overflow") overflow = change;
      if (overflow !== undefined && count > 100) break;
    }
    expect(overflow).toEqual({ type: "overflow", path: "." });
    expect(count).toBeLessThan(120_000);
  });

  test("ends with the session, and with its loop; then there is room for others", async () => {
    const session = await runtime.openSession();
    const watches = await Promise.all(Array.from({ length: 8 }, () => session.files.watch()));
    await expect(session.files.watch()).rejects.toThrow("8 watches are open");
    const [first, ...others] = watches as [FileWatch, ...FileWatch[]];
    await session.files.write("f", "");
    for await (const change of first) {
      expect(change).toEqual({ type: "created", path: "f" });
      break;
    }
    await session.files.watch();
    const ends = others.map(async (watch) => {
      let count = 0;
      for await (const _ of watch) count += 1;
      return count;
    });
    await session.close();
    expect(await Promise.all(ends)).toEqual(others.map(() => 1));
  });

  test("does not keep an interrupt, a new worker or a reset from happening, and lives through them", async () => {
    await using session = await runtime.openSession();
    await using watch = await session.files.watch();
    const running = await begin(session, "print('up', flush=True)\nwhile True: pass");
    session.interrupt();
    await running.result;
    await session.execute("import os; os._exit(1)").result;
    await session.reset();
    await valueOf(session, "open('after', 'w').close()");
    expect(await take(watch[Symbol.asyncIterator](), 1)).toEqual([["created", "after"]]);
  });
});
