// The host reads and writes in a folder that hostile code owns. Whatever that code does, the host touches nothing else,
// never waits without a limit, and reports what happened.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REPLSecurityError } from "../../internals.ts";
import { begin, valueOf } from "../../open.ts";
import { failureOf, openStage, type OpenStage } from "../stage.ts";

const MIB = 2 ** 20;

let stage: OpenStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

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
    expect(await valueOf(session, "import os; os.listdir()")).toBe("['inside']");
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
    await valueOf(
      session,
      `import os, tempfile; outside = tempfile.gettempdir() + '/x'; open(outside, 'w').write('secret'); os.symlink('${target}', 'last'); os.symlink('${folder}', 'first'); os.mkdir('d'); os.symlink('../last', 'd/chain')`,
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
    expect(await valueOf(session, "(os.listdir(), open(outside).read())")).toBe("(['d'], 'secret')");
  });

  test("links to descriptors and roots of processes are refused, the init's included", async () => {
    await using session = await stage.runtime.openSession();
    const targets = ["/proc/self/fd/0", "/proc/1/root", "/proc/self/cwd", "/proc/1/cwd", "/dev/fd/1", "/proc/self/exe"];
    await valueOf(session, `import os\nfor i, t in enumerate(${JSON.stringify(targets)}): os.symlink(t, f'l{i}')`);
    for (const index of targets.keys()) {
      expect(await failureOf(session.files.read(`l${index}`))).toBeInstanceOf(REPLSecurityError);
      expect(await failureOf(session.files.list(`l${index}`))).toBeInstanceOf(REPLSecurityError);
    }
  });

  test("circular links and endless folders are reported and not followed forever", async () => {
    await using session = await stage.runtime.openSession();
    await valueOf(
      session,
      `import os; home = os.getcwd(); os.symlink('b', 'a'); os.symlink('a', 'b'); os.symlink('.', 'self')
for _ in range(1500): os.mkdir('d'); os.chdir('d')
os.chdir(home)`,
    );
    expect(await failureOf(session.files.read("a"))).toMatchObject({ code: "FILE", reason: "denied" });
    expect(await failureOf(session.files.list("self/".repeat(60)))).toMatchObject({ code: "FILE", reason: "denied" });
    expect(await failureOf(session.files.stat("d/".repeat(1400)))).toMatchObject({ code: "FILE", reason: "denied" });
    expect((await session.files.list("d", { depth: 1000 })).entries.length).toBe(64);
    await session.files.remove("d");
    expect(await valueOf(session, "sorted(os.listdir())")).toBe("['a', 'b', 'self']");
  });

  test("a link in a folder mounted for writing leads nowhere, and is not seen from the working directory", async () => {
    await using session = await stage.runtime.openSession({ mounts: [{ path: stage.canaries.scratch, mode: "rw" }] });
    await valueOf(session, `import os; os.symlink('${stage.canaries.scratch}', 'mounted')`);
    expect(await failureOf(session.files.list("mounted"))).toBeInstanceOf(REPLSecurityError);
  });
});

describe("what is not a file", () => {
  test("a named pipe that nobody writes to is refused at once, for reading and for writing; its writer feels nothing", async () => {
    await using session = await stage.runtime.openSession();
    await valueOf(
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
    expect(await valueOf(session, "opened")).toBe("[]");
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
    await valueOf(session, "import os; open('one', 'w').write('old'); os.link('one', 'two')");
    expect((await session.files.read("two")).toString()).toBe("old");
    await session.files.write("two", "new");
    expect(await valueOf(session, "open('one').read(), open('two').read()")).toBe("('old', 'new')");
    expect(await valueOf(session, "\ntry: os.link('/etc/passwd', 'three')\nexcept OSError as e: r = 'no'\nr")).toBe(
      "'no'",
    );
  });
});

test("a file of the host that is uploaded or made is touched by the host alone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-hostile-files-"));
  await using session = await stage.runtime.openSession();
  writeFileSync(join(folder, "source"), "from the host");
  await session.files.writeFrom("f", join(folder, "source"));
  await valueOf(session, "import os; os.remove('f'); os.symlink('/etc/passwd', 'f')");
  expect(await failureOf(session.files.readTo("f", join(folder, "target")))).toBeInstanceOf(REPLSecurityError);
  await session.files.remove("f");
  await session.files.write("f", "to the host");
  await session.files.readTo("f", join(folder, "target"));
  expect(readFileSync(join(folder, "target"), "utf8")).toBe("to the host");
  rmSync(folder, { recursive: true });
});
