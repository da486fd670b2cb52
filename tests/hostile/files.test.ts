// The host reads and writes in a folder that hostile code owns. Whatever that code does there, the host stays out of
// everything else, waits for nothing without end, and says what happened.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FileError, REPLSecurityError, WorkerLostError, type Execution, type Session } from "../../src/index.ts";
import { openStage, type OpenStage } from "./stage.ts";

const MIB = 2 ** 20;
const ROUNDS = 60;

let stage: OpenStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

async function run(session: Session, code: string): Promise<string> {
  const result = (await session.execute(code).result).unwrap();
  return result.value?.["text/plain"] ?? "";
}

/** Runs code that never ends by itself; returns when it has printed. */
async function begin(session: Session, code: string): Promise<Execution> {
  const execution = session.execute(code);
  for await (const event of execution) if (event.type === "output-delta") break;
  return execution;
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "it worked",
    (error: unknown) => error,
  );
}

describe("paths that lead out", () => {
  const OUT = ["..", "../x", "a/../../x", "/etc/passwd", "/", "/workshop", "/work/../etc/passwd", "/tmp/x", "a\0b"];

  test.each(OUT)("%j is refused by every operation", async (path) => {
    await using session = await stage.runtime.openSession();
    await session.files.write("inside", "1");
    const { files } = session;
    const attempts = [
      files.read(path),
      files.write(path, "x"),
      files.list(path),
      files.stat(path),
      files.exists(path),
      files.makeFolder(path),
      files.rename(path, "x"),
      files.rename("inside", path),
      files.remove(path),
      files.watch(path),
      files.readTo(path, join(stage.canaries.scratch, "taken")),
    ];
    for (const failure of await Promise.all(attempts.map(failureOf))) {
      expect(failure).toBeInstanceOf(REPLSecurityError);
    }
    expect(await run(session, "import os; os.listdir()")).toBe("['inside']");
  });

  const LINKS = [
    "/etc/passwd",
    "/proc/self/root/etc/passwd",
    "../../etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "/tmp/x",
  ];
  test.each(LINKS)("a link to %s is refused, first, last and in the middle of a chain", async (target) => {
    await using session = await stage.runtime.openSession();
    const folder = target.slice(0, target.lastIndexOf("/"));
    const name = target.slice(target.lastIndexOf("/") + 1);
    await run(
      session,
      `import os; open('/tmp/x', 'w').write('secret'); os.symlink('${target}', 'last'); os.symlink('${folder}', 'first'); os.mkdir('d'); os.symlink('../last', 'd/chain')`,
    );
    for (const path of ["last", `first/${name}`, "d/chain", `d/../first/${name}`]) {
      expect(await failureOf(session.files.read(path))).toBeInstanceOf(REPLSecurityError);
      expect(await failureOf(session.files.write(path, "x"))).toBeInstanceOf(REPLSecurityError);
    }
    expect(await failureOf(session.files.list("first"))).toBeInstanceOf(REPLSecurityError);
    expect(await failureOf(session.files.makeFolder("first/new"))).toBeInstanceOf(REPLSecurityError);
    expect(await failureOf(session.files.rename("d", "first/d"))).toBeInstanceOf(REPLSecurityError);
    await session.files.remove("last");
    await session.files.remove("first");
    expect(await run(session, "(os.listdir(), open('/tmp/x').read())")).toBe("(['d'], 'secret')");
  });

  test("links to descriptors and roots of processes are refused, the init's included", async () => {
    await using session = await stage.runtime.openSession();
    const targets = ["/proc/self/fd/0", "/proc/1/root", "/proc/self/cwd", "/proc/1/cwd", "/dev/fd/1", "/proc/self/exe"];
    await run(session, `import os\nfor i, t in enumerate(${JSON.stringify(targets)}): os.symlink(t, f'l{i}')`);
    for (const index of targets.keys()) {
      expect(await failureOf(session.files.read(`l${index}`))).toBeInstanceOf(REPLSecurityError);
      expect(await failureOf(session.files.list(`l${index}`))).toBeInstanceOf(REPLSecurityError);
    }
  });

  test("links in a circle, and folders without end, are told and not followed for ever", async () => {
    await using session = await stage.runtime.openSession();
    await run(
      session,
      `import os; os.symlink('b', 'a'); os.symlink('a', 'b'); os.symlink('.', 'self')
for _ in range(1500): os.mkdir('d'); os.chdir('d')
os.chdir('/work')`,
    );
    expect(await failureOf(session.files.read("a"))).toMatchObject({ code: "FILE", reason: "denied" });
    expect(await failureOf(session.files.list("self/".repeat(60)))).toMatchObject({ code: "FILE", reason: "denied" });
    expect(await failureOf(session.files.stat("d/".repeat(1400)))).toMatchObject({ code: "FILE", reason: "denied" });
    expect((await session.files.list("d", { depth: 1000 })).entries.length).toBe(64);
    await session.files.remove("d");
    expect(await run(session, "sorted(os.listdir())")).toBe("['a', 'b', 'self']");
  });

  test("a link in a folder mounted for writing leads nowhere, and is not seen from the working directory", async () => {
    await using session = await stage.runtime.openSession({ mounts: [{ path: stage.canaries.scratch, mode: "rw" }] });
    await run(session, `import os; os.symlink('${stage.canaries.scratch}', 'mounted')`);
    expect(await failureOf(session.files.list("mounted"))).toBeInstanceOf(REPLSecurityError);
  });
});

describe("what is not a file", () => {
  test("a named pipe that nobody writes to is refused at once, for reading and for writing; its writer feels nothing", async () => {
    await using session = await stage.runtime.openSession();
    await run(
      session,
      `import os, stat, threading; os.mkfifo('p'); os.mknod('s', stat.S_IFSOCK | 0o600)
opened = []
threading.Thread(target=lambda: opened.append(os.open('p', os.O_WRONLY)), daemon=True).start()`,
    );
    for (const path of ["p", "s"]) {
      expect(await failureOf(session.files.read(path))).toMatchObject({ reason: "not-a-file" });
      expect(await failureOf(session.files.write(path, "x"))).toMatchObject({ reason: "not-a-file" });
      expect(await session.files.stat(path)).toMatchObject({ type: "other", size: 0 });
    }
    expect(await run(session, "opened")).toBe("[]");
    await session.files.remove("p");
  });

  test("a file that grows without end is read up to where it ended at first", async () => {
    await using session = await stage.runtime.openSession();
    const code = `f = open('log', 'wb', buffering=0); f.write(bytes(1 << 20)); print('up', flush=True)
while f.tell() < 100 << 20: f.write(bytes(4096))
while True: f.seek(1 << 20); f.truncate(); f.write(bytes(1 << 20))`;
    const running = await begin(session, code);
    for (let round = 0; round < 20; round += 1) {
      const { size } = await session.files.stat("log");
      let read = 0;
      for await (const chunk of session.files.readStream("log", { length: 200 * MIB })) read += chunk.length;
      expect(read).toBeGreaterThanOrEqual(Math.min(size, MIB));
      expect(read).toBeLessThanOrEqual(101 * MIB);
    }
    session.interrupt();
    await running.result;
  });

  test("a hard link is the same file, and replacing one leaves the other", async () => {
    await using session = await stage.runtime.openSession();
    await run(session, "import os; open('one', 'w').write('old'); os.link('one', 'two')");
    expect((await session.files.read("two")).toString()).toBe("old");
    await session.files.write("two", "new");
    expect(await run(session, "open('one').read(), open('two').read()")).toBe("('old', 'new')");
    expect(await run(session, "\ntry: os.link('/etc/passwd', 'three')\nexcept OSError as e: r = 'no'\nr")).toBe("'no'");
  });
});

describe("races: code swaps a file, a folder and links while the host works", () => {
  // `x` is a file, a link to a secret, a folder and a link to a folder of secrets, in turn and as fast as it goes.
  const SWAP = `import os, itertools, shutil
os.makedirs('/tmp/secrets'); os.mkdir('forms')
open('/tmp/secrets/f', 'w').write('SECRET'); open('/tmp/secret', 'w').write('SECRET')
def make(kind, name):
    if kind == 'file': open(name, 'w').write('good')
    elif kind == 'folder': os.mkdir(name); open(name + '/f', 'w').write('good')
    elif kind == 'link': os.symlink('/tmp/secret', name)
    else: os.symlink('/tmp/secrets', name)
def clear(name):
    if os.path.isdir(name) and not os.path.islink(name): shutil.rmtree(name, ignore_errors=True)
    else: os.unlink(name)
print('up', flush=True)
for i, kind in enumerate(itertools.cycle(('file', 'folder', 'link', 'folder-link'))):
    for step in (lambda: make(kind, f'forms/{i}'), lambda: os.rename(f'forms/{i}', 'x'),
                 lambda: os.rename('x', f'forms/old{i}'), lambda: clear(f'forms/old{i}'), lambda: clear(f'forms/{i}')):
        try: step()
        except OSError: pass`;

  let session: Session;
  let running: Execution;
  beforeAll(async () => {
    session = await stage.runtime.openSession();
    running = await begin(session, SWAP);
  });
  afterAll(async () => {
    session.interrupt();
    expect((await running.result).status).toBe("interrupted");
    expect(await run(session, "open('/tmp/secret').read() + open('/tmp/secrets/f').read()")).toBe("'SECRETSECRET'");
    expect(await run(session, "sorted(os.listdir('/tmp')), os.listdir('/tmp/secrets')")).toBe(
      "(['secret', 'secrets'], ['f'])",
    );
    await session.close();
  });

  /** Does it many times; every failure must be one that is documented. Answers with what worked, and what was refused. */
  async function repeat<T>(work: () => Promise<T>): Promise<{ worked: T[]; refused: number }> {
    const worked: T[] = [];
    let refused = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      try {
        worked.push(await work());
      } catch (error) {
        if (error instanceof REPLSecurityError) refused += 1;
        else expect(error).toBeInstanceOf(FileError);
      }
    }
    return { worked, refused };
  }

  test("reading never gives what a link leads to", async () => {
    const read = async (path: string): Promise<string> => (await session.files.read(path)).toString();
    let met = { worked: false, refused: false };
    // Until both things have happened, or this would show nothing.
    while (!met.worked || !met.refused) {
      for (const path of ["x", "x/f"]) {
        const { worked, refused } = await repeat(() => read(path));
        expect(worked.filter((text) => text !== "good" && text !== "")).toEqual([]);
        met = { worked: met.worked || worked.length > 0, refused: met.refused || refused > 0 };
      }
    }
  });

  test("writing never changes what a link leads to", async () => {
    await repeat(() => session.files.write("x", "overwritten"));
    await repeat(() => session.files.write("x/f", "overwritten"));
    await repeat(() => session.files.makeFolder("x/new"));
  });

  test("listing never shows what a link leads to", async () => {
    const { worked } = await repeat(() => session.files.list("x"));
    expect(worked.filter(({ entries }) => entries.some(({ size }) => size === "SECRET".length))).toEqual([]);
  });

  test("removing and renaming never reach through a link", async () => {
    await repeat(() => session.files.remove("x/f"));
    await repeat(() => session.files.rename("x/f", "x/g"));
    await repeat(() => session.files.remove("x"));
    await repeat(() => session.files.rename("x", "y"));
  });
});

describe("limits", () => {
  test("a full disk is told, what was there stays, and removing makes room again", async () => {
    await using session = await stage.runtime.openSession({ limits: { diskBytes: 16 * MIB } });
    await session.files.write("kept", "old");
    await run(session, "f = open('fill', 'wb')\ntry:\n  while True: f.write(bytes(65536))\nexcept OSError: pass");
    expect(await failureOf(session.files.write("kept", Buffer.alloc(MIB)))).toMatchObject({ reason: "no-space" });
    expect((await session.files.read("kept")).toString()).toBe("old");
    expect((await session.files.list()).entries.map(({ name }) => name)).toEqual(["fill", "kept"]);
    await session.files.remove("fill");
    await run(session, "\ntry: f.close()\nexcept OSError: pass");
    expect((await session.files.write("kept", Buffer.alloc(MIB))).size).toBe(MIB);
  });

  test("an upload larger than the disk ends with no-space, long before its source does", async () => {
    await using session = await stage.runtime.openSession({ limits: { diskBytes: 16 * MIB } });
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; sent < 1024; sent += 1) yield new Uint8Array(MIB);
    }
    expect(await failureOf(session.files.write("big", endless()))).toMatchObject({
      reason: expect.stringMatching(/no-space|too-large/),
    });
    expect(sent).toBeLessThan(64);
    expect((await session.files.list()).entries).toEqual([]);
  });

  test("70,000 files: as many as there may be are made, listed in part, and removed", async () => {
    await using session = await stage.runtime.openSession();
    const made = Number(
      await run(
        session,
        "import os; os.mkdir('many'); n = 0\ntry:\n  for n in range(70_000): os.close(os.open(f'many/{n}', os.O_CREAT))\nexcept OSError: pass\nn",
      ),
    );
    expect(made).toBeGreaterThan(60_000);
    expect(made).toBeLessThan(65_536);
    expect(await failureOf(session.files.write("one-more", "x"))).toMatchObject({ reason: "no-space" });
    const { entries, omitted } = await session.files.list("many");
    expect(entries.length + omitted).toBe(made);
    expect(entries.length).toBe(10_000);
    await session.files.remove("many");
    expect((await session.files.list()).entries).toEqual([]);
  });

  test("names of every length and byte come back as they are", async () => {
    await using session = await stage.runtime.openSession();
    const count = await run(
      session,
      `names = [bytes([b]) * 255 for b in range(1, 256) if b != 47 and b != 46] + [b'\\n', b' ', b'\\x1b[2J', b'"', b'..a']
for n in names: open(n, 'wb').write(n)
len(names)`,
    );
    const { entries } = await session.files.list();
    expect(entries.length).toBe(Number(count));
    for (const { path, size } of entries) expect((await session.files.read(path)).length).toBe(size);
    for (const { path } of entries) await session.files.remove(path);
    expect(await run(session, "import os; os.listdir()")).toBe("[]");
  });

  test("a folder that is filled while it is removed is removed, or the reason told", async () => {
    await using session = await stage.runtime.openSession();
    const code = `import os, itertools
os.makedirs('d', exist_ok=True); print('up', flush=True)
for i in itertools.count():
    try: os.makedirs(f'd/{i % 50}/x', exist_ok=True); open(f'd/{i % 50}/x/f', 'w').close()
    except OSError: pass`;
    const running = await begin(session, code);
    for (let round = 0; round < 20; round += 1) {
      const outcome = await failureOf(session.files.remove("d"));
      if (outcome !== "it worked") expect(outcome).toBeInstanceOf(FileError);
    }
    session.interrupt();
    await running.result;
  });
});

describe("the processes that do it", () => {
  /** Code that looks at every process but the init and itself, while a watch is open. */
  const OTHERS =
    "import os, signal\njobs = [int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]\n";

  test("cannot be looked into, and their pipes cannot be opened", async () => {
    await using session = await stage.runtime.openSession();
    await using _ = await session.files.watch();
    const code = `${OTHERS}
def attempt(path):
    try:
        with open(path, 'rb') as f: return f.read(16)
    except OSError as e: return type(e).__name__
def listing(path):
    try: return os.listdir(path)
    except OSError as e: return type(e).__name__
def pipe(pid):
    try: return os.open(f'/proc/{pid}/fd/3', os.O_RDWR | os.O_NONBLOCK)
    except OSError as e: return type(e).__name__
[(listing(f'/proc/{p}/fd'), attempt(f'/proc/{p}/mem'), attempt(f'/proc/{p}/environ'), pipe(p), listing(f'/proc/{p}/root')) for p in jobs]`;
    const no = "'PermissionError'";
    expect(await run(session, code)).toBe(`[(${Array.from({ length: 5 }, () => no).join(", ")})]`);
  });

  test("one that is stopped is given up, and the session goes on", async () => {
    await using session = await stage.runtime.openSession();
    await session.files.write("f", "1");
    const running = await begin(
      session,
      "import os, signal\nprint('up', flush=True)\nwhile True:\n  try: os.kill(-1, signal.SIGSTOP)\n  except OSError: pass",
    );
    const controller = new AbortController();
    const aborted = session.files.read("f", { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    // One that was quicker than the signal is read; the next one is not, after ten seconds of silence.
    while (!((await failureOf(session.files.read("f"))) instanceof WorkerLostError));
    session.interrupt();
    await running.result;
    expect((await session.files.read("f")).toString()).toBe("1");
  });

  test("work when the session has used up its processes and its open files", async () => {
    await using session = await stage.runtime.openSession({ limits: { processes: 16, openFiles: 256 } });
    const code = `import os, time
files = []
try:
    while True: files.append(open('/dev/null'))
except OSError: files.pop().close()
try:
    while True:
        if os.fork() == 0: time.sleep(1000)
except OSError: pass`;
    await run(session, code);
    await session.files.write("f", "1");
    expect((await session.files.read("f")).toString()).toBe("1");
  });

  test("are gone when nobody needs them, however many there were", async () => {
    await using session = await stage.runtime.openSession();
    await session.files.write("f", Buffer.alloc(MIB));
    const controller = new AbortController();
    const abandoned = Array.from({ length: 200 }, () =>
      failureOf(session.files.read("f", { signal: controller.signal })),
    );
    controller.abort();
    await Promise.all(abandoned);
    for await (const _ of session.files.readStream("f")) break;
    await (await session.files.watch()).close();
    const code = `import time
def jobs(): return [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]
deadline = time.monotonic() + 5
while jobs() and time.monotonic() < deadline: time.sleep(0.01)
jobs()`;
    expect(await run(session, `import os\n${code}`)).toBe("[]");
  });
});

test("a file of the host that is uploaded or made is touched by the host alone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-hostile-files-"));
  await using session = await stage.runtime.openSession();
  writeFileSync(join(folder, "source"), "from the host");
  await session.files.writeFrom("f", join(folder, "source"));
  await run(session, "import os; os.remove('f'); os.symlink('/etc/passwd', 'f')");
  expect(await failureOf(session.files.readTo("f", join(folder, "target")))).toBeInstanceOf(REPLSecurityError);
  await session.files.remove("f");
  await session.files.write("f", "to the host");
  await session.files.readTo("f", join(folder, "target"));
  expect(readFileSync(join(folder, "target"), "utf8")).toBe("to the host");
  rmSync(folder, { recursive: true });
});
