// Folders on file systems that cannot show another owner, as root: their sessions have the ids of the owner.

/** @module-tag stress */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { release, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRuntime, type Mount, type Runtime } from "../../internals.ts";
import { valueOf } from "../../open.ts";
import { comesTrue, processesWith, python } from "../machine.ts";
import { mountByFuse, mountOverlay } from "../overlay.ts";
import { THREAD_AND_FORK_BOMB, toProbe, uniqueSleep } from "../probe.ts";
import { failureOf, hold, openStage, readCorpus, type OpenStage } from "../stage.ts";
import { kernelUser, TAKE_ALL, TAKE_ONE, take, takeOutside, type Taken } from "../users.ts";
import { TIER } from "../../tier.ts";

// In tier C there are no mounts; container/root.test.ts is about folders of root there.
const place = TIER === "C" ? undefined : mountOverlay();
const corpus = readCorpus("sandbox-probes.json");
const isSince = (major: number, minor: number): boolean => {
  const [first = 0, second = 0] = release().split(".").map(Number);
  return first > major || (first === major && second >= minor);
};

describe.skipIf(place === undefined)(
  `on overlayfs${place === undefined ? " (this user cannot mount one)" : ""}`,
  () => {
    let stage: OpenStage;
    let ofRoot = "";
    const make: NonNullable<typeof place>["make"] = (...args) => place?.make(...args) ?? "";
    const open = (...mounts: Mount[]): ReturnType<Runtime["openSession"]> => stage.runtime.openSession({ mounts });

    beforeAll(async () => {
      ofRoot = make("of-root", 0);
      stage = await openStage({ poolSize: 0 });
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
      place?.remove();
    });

    test.each([0, 1000])(
      "a private folder of user %i can be read and written, and files belong to that user",
      async (owner) => {
        const path = make(`written-${owner}`, owner);
        await using session = await open({ path, mode: "rw" });
        const code = `import os; os.chdir(${JSON.stringify(path)})
os.mkdir("folder"); open("folder/new", "w").write("by code"); open("own", "a").write(", and more")
os.getuid(), os.stat(".").st_uid, open("own").read()`;
        expect(await valueOf(session, code)).toBe("(1000, 1000, 'private, and more')");
        expect(await kernelUser(session)).toBe(owner);
        for (const made of ["folder", "folder/new"]) {
          expect(statSync(join(path, made))).toMatchObject({ uid: owner, gid: owner });
        }
        expect(readFileSync(join(path, "folder/new"), "utf8")).toBe("by code");
        expect(await stage.runtime.shell(`cat ${path}/own`, { session }).result).toMatchObject({
          stdout: "private, and more",
        });
      },
    );

    test.each([0, 1000])(
      "a private folder of user %i that is mounted read-only can be read, and not changed",
      async (owner) => {
        const path = make(`read-${owner}`, owner);
        await using session = await open({ path, mode: "ro" });
        expect(await valueOf(session, `open(${JSON.stringify(`${path}/own`)}).read()`)).toBe("'private'");
        const { error } = await session.execute(`open(${JSON.stringify(`${path}/own`)}, "a")`).result;
        expect(error?.name).toMatch(/PermissionError|OSError/);
        expect(readFileSync(join(path, "own"), "utf8")).toBe("private");
      },
    );

    test("a session that only reads what every user may read has a user of its own", async () => {
      const path = make("open", 0);
      chmodSync(path, 0o755);
      await using session = await open({ path, mode: "ro" });
      expect(await kernelUser(session)).toBeGreaterThan(1000);
      expect(await valueOf(session, `import os; os.listdir(${JSON.stringify(path)})`)).toBe("['own']");
    });

    test("two owners are refused, with both and what to do", async () => {
      const [one, two] = [make("of-one", 1001), make("of-two", 1002)];
      const failure = String(await failureOf(open({ path: one, mode: "rw" }, { path: two, mode: "ro" })));
      expect(failure).toContain(`'${one}' belongs to user 1001, group 1001 and '${two}' to user 1002, group 1002`);
      expect(failure).toMatch(/Open a session for each owner/);
      await using session = await open({ path: one, mode: "rw" });
      expect(await kernelUser(session)).toBe(1001);
    });

    test.skipIf(!isSince(6, 3))(
      "a folder beside it whose file system can show another owner may have any (Linux 6.3)",
      async () => {
        const [one, other] = [make("beside", 1001), make("other", 1002, "tmpfs")];
        await using session = await open({ path: other, mode: "rw" }, { path: one, mode: "rw" });
        const code = `for path in ${JSON.stringify([one, other])}: open(path + "/new", "w").write(open(path + "/own").read())`;
        (await session.execute(code).result).unwrap();
        expect([one, other].map((path) => statSync(join(path, "new")).uid)).toEqual([1001, 1002]);
      },
    );

    test("shown by FUSE, a folder can be written (skipped without bindfs)", async (context) => {
      const [source, target] = [make("source", 0), join(make("by", 0), "fuse")];
      if (!mountByFuse(source, target)) return context.skip();
      try {
        await using session = await open({ path: target, mode: "rw" });
        (await session.execute(`open(${JSON.stringify(join(target, "new"))}, "w").write("x")`).result).unwrap();
        expect(statSync(join(source, "new")).uid).toBe(0);
      } finally {
        spawnSync("umount", ["--lazy", target]);
      }
    });

    describe("code with the ids of root", () => {
      const PREY = /^(fs|w|x|proc)-/;
      test.each(
        corpus.probes
          .filter(({ id, language }) => PREY.test(id) && language !== "pyodide")
          .map((probe) => [probe.id, probe] as const),
      )("%s", (_, probe) => hold({ ...probe, mounts: [{ path: ofRoot, mode: "rw" }] }, corpus.prelude_python, stage));

      test("can write nothing in /proc, by its mounts alone", async () => {
        await using session = await open({ path: ofRoot, mode: "rw" });
        expect(await kernelUser(session)).toBe(0);
        const code = `
import os, errno
def errors():
    for folder, folders, files in os.walk("/proc"):
        folders[:] = [name for name in folders if folder != "/proc" or not name.isdigit()]
        for name in files:
            try: os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
            except OSError as error: yield error.errno
            else: yield os.path.join(folder, name)
options = {line.split()[4]: line.split()[5].split(",") for line in open("/proc/self/mountinfo")}
sorted({each for each in errors() if each not in (errno.EACCES, errno.EROFS, errno.EPERM, errno.ENOENT, errno.EIO)}, key=str), "ro" in options["/proc"], [
  path for path in options if path.startswith("/proc/") and "ro" not in options[path]]`;
        expect(await valueOf(session, code)).toBe("([], True, [])");
      });

      test("can read nothing that not every user may read, in the folders that every session sees", async () => {
        const venv = mkdtempSync(join(tmpdir(), "hostile-venv-"));
        try {
          for (const folder of ["bin", "closed"]) mkdirSync(join(venv, folder));
          symlinkSync(python, join(venv, "bin/python3"));
          writeFileSync(join(venv, "pyvenv.cfg"), "home = /usr/bin\n");
          for (const name of ["secret", "closed/secret", "public"]) writeFileSync(join(venv, name), "of the host");
          for (const [name, mode] of [
            ["", 0o755],
            ["closed", 0o700],
            ["secret", 0o600],
          ] as const)
            chmodSync(join(venv, name), mode);
          await using other = await openRuntime({ python: join(venv, "bin/python3"), preload: [], poolSize: 0 });
          for (let round = 0; round < 2; round += 1) {
            await using session = await other.openSession({ mounts: [{ path: ofRoot, mode: "rw" }] });
            expect(await kernelUser(session)).toBe(0);
            const code = `import os
def attempt(path):
    try: return open(path).read()
    except OSError as error: return type(error).__name__
def shown():
    for root in ("/proc", "/etc", ${JSON.stringify(venv)}):
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if folder != "/proc" or not name.isdigit()]
            for status in (os.lstat(os.path.join(folder, name)) for name in files):
                if status.st_mode & 0o777 and not status.st_mode & 0o004: yield folder
[attempt(${JSON.stringify(venv)} + "/" + name) for name in ("secret", "closed/secret", "public")], [*shown()]`;
            expect(await valueOf(session, code)).toBe("(['PermissionError', 'PermissionError', 'of the host'], [])");
          }
        } finally {
          rmSync(venv, { recursive: true });
        }
      });

      test("opens nothing that processes of ours have open", async () => {
        await using session = await open({ path: ofRoot, mode: "rw" });
        await using _ = await session.files.watch();
        const code = `import os
def opened():
    for pid in {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}:
        try: names = os.listdir(f"/proc/{pid}/fd")
        except PermissionError: names = range(64)
        for path in (*(f"/proc/{pid}/fd/{name}" for name in names), *(f"/proc/{pid}/{name}" for name in ("mem", "environ", "maps"))):
            try: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK)); yield path
            except PermissionError: pass
len(os.listdir("/proc")) > 2, [*opened()]`;
        expect(await valueOf(session, code)).toBe("(True, [])");
      });

      test("takes no more of what is counted for a user than others", async () => {
        await using session = await open({ path: ofRoot, mode: "rw" });
        const taken = await take<Taken>(session, TAKE_ALL);
        expect(taken.inotify).toBeLessThanOrEqual(12);
        expect(taken.timers).toBeLessThanOrEqual(1024);
        expect(takeOutside()).toMatchObject({ inotify: true, timers: true });
        await using sibling = await open({ path: ofRoot, mode: "rw" });
        expect(await take(sibling, TAKE_ONE)).toMatchObject({ inotify: true, timers: true });
      });

      test.skipIf(!isSince(6, 14))("has no more processes than its limit and a few (Linux 6.14)", () => {
        return hold(
          toProbe("bomb", THREAD_AND_FORK_BOMB, {
            check: { value_int_max: 144 },
            mounts: [{ path: ofRoot, mode: "rw" }],
          }),
          corpus.prelude_python,
          stage,
        );
      });

      test("a bomb in a task ends with it, or with its sandbox", async () => {
        await using session = await stage.runtime.openSession({
          mounts: [{ path: ofRoot, mode: "rw" }],
          limits: { processes: 64 },
        });
        const mark = uniqueSleep();
        const bomb = stage.runtime.shell(`bomb() { sleep ${mark} & bomb | bomb & }; bomb; wait`, { session });
        await comesTrue(() => processesWith(mark).length > 5);
        await bomb.cancel();
        expect(await comesTrue(() => processesWith(mark).length === 0)).toBe(true);
        expect(await valueOf(session, "1 + 1")).toBe("2");
      });
    });
  },
);
