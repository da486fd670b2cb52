// Files, shell, limits, network, mounts, clean-up and the end of sessions.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REPLSecurityError, SessionNotFoundError } from "../../../src/errors.ts";
import { run } from "../../../src/testing/contract/drive.ts";
import { comesTrue, processesHolding, processesWith } from "../../hostile/machine.ts";
import { uniqueSleep } from "../../hostile/probe.ts";
import { missing, needs, needsAbsence, openSession, type Suite } from "./suite.ts";

const MIB = 2 ** 20;

export function describeIsolation(suite: Suite): void {
  describe("files", () => {
    test("cannot lead out of the working directory", async () => {
      await using session = await openSession(suite);
      for (const path of ["../x", "/etc/passwd"]) {
        await expect(session.files.read(path), path).rejects.toBeInstanceOf(REPLSecurityError);
        await expect(session.files.write(path, "x"), path).rejects.toBeInstanceOf(REPLSecurityError);
      }
    });

    test("links of code cannot lead out of the working directory", async (context) => {
      needs(suite, context, "links");
      await using session = await openSession(suite);
      await run(session, "import os; os.symlink('/etc/passwd', 'link'); os.symlink('/etc', 'folder')");
      for (const path of ["link", "folder/passwd"]) {
        await expect(session.files.read(path), path).rejects.toBeInstanceOf(REPLSecurityError);
      }
      await expect(session.files.write("folder/x", "x")).rejects.toBeInstanceOf(REPLSecurityError);
    });

    test("code cannot make links where there are none", async (context) => {
      needsAbsence(suite, context, "links");
      await using session = await openSession(suite);
      expect(await session.execute("import os; os.symlink('/etc/passwd', 'link')")).toMatchObject({
        status: "error",
        error: { name: "PermissionError" },
      });
    });

    test("stay when the worker is lost", async () => {
      await using session = await openSession(suite);
      await run(session, "open('f', 'w').write('kept'); None");
      expect(await session.execute("import os; os._exit(1)")).toMatchObject({ state: "lost" });
      expect((await run(session, "open('f').read()")).text).toBe("'kept'");
    });
  });

  describe("shell", () => {
    test("runs in the working directory", async (context) => {
      needs(suite, context, "shell");
      await using session = await openSession(suite);
      await session.files.write("f", "content");
      expect(await session.shell("cat f; echo bad >&2; exit 3")).toMatchObject({
        exitCode: 3,
        stdout: "content",
        stderr: "bad\n",
      });
    });

    test("is refused with what to use instead", async (context) => {
      needsAbsence(suite, context, "shell");
      await using session = await openSession(suite);
      await expect(Promise.resolve().then(() => session.shell("true"))).rejects.toEqual(missing(suite, "shell"));
    });
  });

  describe("limits", () => {
    test("memory ends the code, and the session goes on", async () => {
      const memoryBytes = suite.smallMemoryBytes;
      await using session = await openSession(suite, { limits: { memoryBytes } });
      const result = await session.execute(`x = [b'x' * (32 << 20) for _ in range(${(2 * memoryBytes) / (32 * MIB)})]`);
      const isHeld = result.status === "error" ? result.error.name === "MemoryError" : result.reason === "memory";
      expect(isHeld, JSON.stringify(result).slice(0, 500)).toBe(true);
      await session.execute("x = None");
      expect((await run(session, "1 + 1")).text).toBe("2");
    });

    test("disk space ends the writing, and the session goes on", async (context) => {
      needs(suite, context, "disk-quota");
      await using session = await openSession(suite, { limits: { diskBytes: 16 * MIB } });
      const code = "with open('f', 'wb', 0) as f:\n    for _ in range(64): f.write(b'x' * (1 << 20))";
      expect(await session.execute(code)).toMatchObject({ status: "error", error: { name: "OSError" }, state: "kept" });
      expect((await run(session, "1 + 1")).text).toBe("2");
    });

    test("processes are counted", async (context) => {
      needs(suite, context, "processes");
      await using session = await openSession(suite, { limits: { processes: 16 } });
      const code = "import subprocess\nc = []\nfor _ in range(40): c.append(subprocess.Popen(['sleep', '600']))";
      expect(await session.execute(code)).toMatchObject({ status: "error", error: { name: "BlockingIOError" } });
      expect((await run(session, "len(c) < 16")).text).toBe("True");
    });
  });

  test("code does not reach the network of the host", async () => {
    let connections = 0;
    const canary = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(canary, "listening");
    const { port } = canary.address() as AddressInfo;
    await using session = await openSession(suite);
    const code = `import socket; s = socket.create_connection(('127.0.0.1', ${port}), 5); s.send(b'x'); s.recv(1)`;
    expect(await session.execute(code)).toMatchObject({ status: "error" });
    canary.close();
    expect(connections).toBe(0);
  });

  describe("mounts", () => {
    test("are read-only or writable as they say", async (context) => {
      needs(suite, context, "mounts");
      using shared = makeShared();
      await using session = await openSession(suite, { mounts: [{ path: shared.path, mode: "ro" }] });
      const file = JSON.stringify(join(shared.path, "f"));
      expect((await run(session, `open(${file}).read()`)).text).toBe("'of the host'");
      expect(await session.execute(`open(${file}, 'w')`)).toMatchObject({ status: "error" });
      await using writer = await openSession(suite, { mounts: [{ path: shared.path, mode: "rw" }] });
      await run(writer, `open(${file}, 'w').write('changed'); None`);
      expect(readFileSync(join(shared.path, "f"), "utf8")).toBe("changed");
    });

    test("have new files that others cannot write, and the umask that code sets", async (context) => {
      needs(suite, context, "mounts");
      using shared = makeShared();
      await using session = await openSession(suite, { mounts: [{ path: shared.path, mode: "rw" }] });
      const create = (name: string): string =>
        `open(f"{folder}/${name}", "w").close(); os.mkdir(f"{folder}/${name}-folder")`;
      const code = `import os; folder = ${JSON.stringify(shared.path)}
before = os.umask(0o22); ${create("usual")}
os.umask(0o27); ${create("private")}
oct(before), oct(os.umask(before))`;
      expect((await run(session, code)).text).toBe("('0o22', '0o27')");
      const names = ["usual", "usual-folder", "private", "private-folder"];
      const modes = names.map((name) => (statSync(join(shared.path, name)).mode & 0o777).toString(8));
      expect(modes).toEqual(["644", "755", "640", "750"]);
    });

    test("are refused with the reason", async (context) => {
      needsAbsence(suite, context, "mounts");
      using shared = makeShared();
      await expect(openSession(suite, { mounts: [{ path: shared.path, mode: "ro" }] })).rejects.toThrow(/mount/i);
    });
  });

  describe("the end", () => {
    test("the files of a closed session are gone", async () => {
      const name = `left-${uniqueSleep()}`;
      const session = await openSession(suite);
      await session.files.write(name, "x");
      await run(session, `open('${name}').read()`);
      await session.close();
      expect(findOnHost(name)).toBe("");
    });

    test("the worker of a closed session is gone", async ({ skip }) => {
      skip(process.getuid?.() !== 0, "only root sees which files other processes have open");
      const name = `held-${uniqueSleep()}`;
      const session = await openSession(suite);
      await run(session, `held = open('${name}', 'w')`);
      expect(processesHolding(name)).toHaveLength(1);
      await session.close();
      expect(await comesTrue(() => processesHolding(name).length === 0)).toBe(true);
    });

    test("the processes that code has started are gone with the session", async (context) => {
      needs(suite, context, "processes");
      const mark = uniqueSleep();
      const session = await openSession(suite);
      await run(session, `import subprocess; subprocess.Popen(['sleep', '${mark}'], start_new_session=True); None`);
      expect(await comesTrue(() => processesWith(mark).length === 1)).toBe(true);
      await session.close();
      expect(await comesTrue(() => processesWith(mark).length === 0)).toBe(true);
    });

    test("a new session sees nothing of a closed one", async () => {
      const session = await openSession(suite);
      await run(session, "x = 1; open('/tmp/left', 'w').close(); open('left', 'w').close()");
      await session.close();
      await using next = await openSession(suite);
      const code = "import os; 'x' in globals(), os.path.exists('left'), os.path.exists('/tmp/left')";
      expect((await run(next, code)).text).toBe("(False, False, False)");
    });

    test("an idle session expires", async () => {
      const session = await openSession(suite, { idleTimeoutMs: 50 });
      await session.subscribe(() => {}).ended;
      await expect(suite.runtime().sessions.get(session.id)).rejects.toBeInstanceOf(SessionNotFoundError);
    });

    test("close() answers with the final statistics", async () => {
      const session = await openSession(suite);
      await run(session, "1");
      expect(await session.close()).toMatchObject({ id: session.id, executionCount: 1, environment: suite.name });
    });
  });
}

/** A folder of the host, of an ordinary user. */
function makeShared(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "rlm-shared-"));
  writeFileSync(join(path, "f"), "of the host");
  chmodSync(path, 0o755);
  if (process.getuid?.() === 0) for (const each of [path, join(path, "f")]) chownSync(each, 1000, 1000);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** The paths of files with this name in temporary folders. Other files there come and go meanwhile. */
function findOnHost(name: string): string {
  const folders = [...new Set([tmpdir(), "/tmp", "/dev/shm"])];
  return spawnSync("find", [...folders, "-maxdepth", "7", "-name", name], { encoding: "utf8" }).stdout;
}
