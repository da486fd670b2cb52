// What a session can see and touch: facts about its sandbox, and attempts to break out.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRuntime, REPLSecurityError, type Mount, type Session } from "../../internals.ts";
import { skipInTierC, TIER, SHARES_USER, skipForSharedUser } from "../../tier.ts";
import { comesTrue, python } from "../machine.ts";
import { toProbe, type Check } from "../probe.ts";
import { hold, openStage, readCorpus, type OpenStage } from "../stage.ts";

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const DENIED: Check = { alive: true, value_re: "^DENIED" };

let stage: OpenStage;
let session: Session;
let shared: string;

beforeAll(async () => {
  stage = await openStage();
  shared = mkdtempSync(join(tmpdir(), "hostile-shared-"));
  session = await stage.runtime.openSession({ mounts: [{ path: shared, mode: "rw" }] });
  (await session.execute(prelude).result).unwrap();
});

afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  rmSync(shared, { recursive: true });
});

describe("facts", () => {
  test("seccomp filters, no new privileges, no capability in any set", async () => {
    const status = await printed(`print(open("/proc/self/status").read())`);
    for (const line of ["Seccomp:\t2", "NoNewPrivs:\t1"]) expect(status).toContain(line);
    // The bounding set, which nobody can use here, cannot be emptied without a privilege.
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb", ...(SHARES_USER ? [] : ["CapBnd"])]) {
      expect(status).toContain(`${set}:\t0000000000000000`);
    }
  });

  test("one user, one group, and nobody else is mapped", async (context) => {
    skipInTierC(context, "it has no user namespace");
    expect(
      await json(
        `[open("/proc/self/%s_map" % k).read().split()[::2] for k in ("uid", "gid")] + [os.getuid(), os.getgid(), [g for g in os.getgroups() if g not in (1000, 65534)]]`,
      ),
    ).toEqual([["1000", "1"], ["1000", "1"], 1000, 1000, []]);
  });

  test("the host's name is hidden", async (context) => {
    skipInTierC(context, "it has no namespace for names");
    expect(await json("os.uname().nodename")).toBe("sandbox");
    expect(hostname()).not.toBe("sandbox");
  });

  test("descriptors: three streams, the worker's own pipes and counter, the control socket, and nothing of the host", async () => {
    const seen = (await json(`sorted({
    os.readlink("/proc/self/fd/" + n) for n in os.listdir("/proc/self/fd")
    if os.path.lexists("/proc/self/fd/" + n)})`)) as string[];
    const count = (kind: string): number => seen.filter((link) => link.startsWith(`${kind}:`)).length;
    expect(count("socket")).toBe(1);
    expect(count("pipe")).toBeLessThanOrEqual(7);
    const files = seen.filter((link) => !/^(pipe|socket):/.test(link));
    for (const path of files) expect(["/dev/null", "/proc/sys/kernel/ns_last_pid", "/proc/loadavg"]).toContain(path);
  });

  test("the environment holds nothing of the host's", async () => {
    const names = (await json("sorted(os.environ)")) as string[];
    const known = ["HOME", "LANG", "LOGNAME", "MPLBACKEND", "MPLCONFIGDIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"];
    const others = ["PATH", "PYTHONDONTWRITEBYTECODE", "SHELL", "TMPDIR", "USER", "XDG_CACHE_HOME"];
    expect(names.filter((name) => TIER !== "C" || name !== "GIT_CONFIG_NOSYSTEM")).toEqual([...known, ...others]);
    expect(await json(`os.environ["HOME"] == os.getcwd()`)).toBe(true);
  });

  test("mounts show the system, the folder that was mounted, and no other path of the host", async (context) => {
    skipInTierC(context, "it has no mounts of its own");
    // Covered are the list of locks and, where it has the ids of root, files that not every user may read.
    const points = (await json(
      `[l.split()[4] for l in open("/proc/self/mountinfo") if not l.split()[3].startswith("/hidden-")]`,
    )) as string[];
    const own = ["/", "/proc", "/work", "/forks", "/tmp", "/dev/shm", shared];
    const system = /^\/(usr|bin|sbin|lib\w*|etc\/[\w./-]+|dev\/(null|zero|full|random|urandom))$/;
    expect(points.filter((point) => !own.includes(point) && !system.test(point))).toEqual([]);
    // The root of each mount within its file system. The host's own root may be a bind mount of a folder.
    const origins = (await json(`[l.split()[3] for l in open("/proc/self/mountinfo")]`)) as string[];
    const [, hostRoot = "/"] = /^(?:\S+ ){3}(\S+) \/ /m.exec(readFileSync("/proc/self/mountinfo", "utf8")) ?? [];
    const home = join(hostRoot, homedir());
    expect(origins.filter((origin) => origin === home || origin.startsWith(`${home}/`))).toEqual([]);
  });

  test("processes: the init, the worker and its own children", async (context) => {
    skipInTierC(context, "it sees the processes of the host");
    await using other = await stage.runtime.openSession();
    await other.execute(`import subprocess; p = subprocess.Popen(["sleep", "50"])`).result;
    expect(
      await json(
        `sorted(int(n) for n in os.listdir("/proc") if n.isdigit())[:1] + [len([n for n in os.listdir("/proc") if n.isdigit()])]`,
      ),
    ).toEqual([1, 2]);
  });

  test("network: a loopback interface of its own, and nothing else", async (context) => {
    skipInTierC(context, "it has no network of its own; a filter denies sockets");
    expect(await json(`[l.split(":")[0].strip() for l in open("/proc/net/dev").read().splitlines()[2:]]`)).toEqual([
      "lo",
    ]);
    // SIOCGIFFLAGS on a socket pair, the only kind of socket allowed; bit 0 is "up".
    const code = `a, _ = socket.socketpair(); import fcntl
try: r = struct.unpack("16sh", fcntl.ioctl(a, 0x8913, struct.pack("16sh", b"lo", 0)))[1] & 1
except OSError: r = 0
r`;
    if (TIER !== "B") expect(await json(code)).toBe(0); // bubblewrap brings it up; no socket can use it
    expect(await json(`len(open("/proc/net/route").read().splitlines()[1:])`)).toBe(0);
  });

  test("/dev holds five harmless devices, /sys and every home are absent", async (context) => {
    skipInTierC(context, "it has no root of its own; Landlock denies to open them");
    expect(await json(`" ".join(sorted(os.listdir("/dev")))`)).toBe(
      "fd full null random shm stderr stdin stdout urandom zero",
    );
    expect(
      await json(
        `[p for p in ("/sys", "/home", "/root", "/boot", "/opt", "/srv", "/mnt", "/media", "/etc/shadow") if os.path.exists(p)]`,
      ),
    ).toEqual([]);
    expect(await json(`[len(os.listdir(p)) for p in ("/run", "/var")]`)).toEqual([0, 0]);
  });

  test("random numbers differ between sessions", async () => {
    const draw = `import random; [random.random(), os.urandom(8).hex(), __import__("uuid").uuid4().hex, __import__("secrets").token_hex(8)]`;
    const draws = await Promise.all(
      [1, 2, 3].map(async () => {
        await using fresh = await stage.runtime.openSession();
        await fresh.execute("import os").result;
        return (await fresh.execute(draw).result).value?.["text/plain"] ?? "";
      }),
    );
    expect(new Set(draws.flatMap((text) => text.split(", "))).size).toBe(12);
  });

  test("random numbers of numpy differ between sessions", async ({ skip }) => {
    await using runtime = await openRuntime({ python, preload: ["numpy"] });
    await runtime.warm();
    const loaded = await comesTrue(() => runtime.report().preloaded.includes("numpy"));
    if (!loaded) return skip("numpy is not installed");
    const draws = await Promise.all(
      [1, 2].map(async () => (await runtime.execute("import numpy; numpy.random.random()")).value?.["text/plain"]),
    );
    expect(draws[0]).not.toBe(draws[1]);
  });

  test("nothing of one session is in the memory of another, nor in what it was forked from", async () => {
    const secret = `CANARY${Math.random().toString(36).slice(2)}${Date.now().toString(36)}`;
    await using other = await stage.runtime.openSession({ env: { SECRET: `${secret}-env` } });
    const { stdout } = await other.execute(`x = "${secret}-code"; print("${secret}-output")`).result;
    expect(stdout).toContain(secret);
    const task = stage.runtime.shell(`echo ${secret}-command`, { session: other, env: { SECRET: `${secret}-env` } });
    expect((await task.result).stdout).toContain(secret);
    await using reader = await stage.runtime.openSession();
    (await reader.execute(prelude).result).unwrap();
    const half = Math.floor(secret.length / 2);
    const scan = `n = 0
needle = b"".join([b"${secret.slice(0, half)}", b"${secret.slice(half)}"]); mine = needle[:-1]
for l in open("/proc/self/maps"):
    if "rw" not in l.split()[1]: continue
    a, b = [int(x, 16) for x in l.split()[0].split("-")]
    try:
        with open("/proc/self/mem", "rb", 0) as h: h.seek(a); d = h.read(b - a)
    except (OSError, ValueError, OverflowError): continue
    n += d.count(needle + b"-")
n`;
    expect((await reader.execute(scan).result).value).toEqual({ "text/plain": "0" });
  });
});

describe("attempts on process 1", () => {
  test.for([
    ["ptrace", `T(lambda: SC(NR(101,117), 16, 1, 0, 0))`],
    ["reading its memory", `T(lambda: open("/proc/1/mem", "rb").read(1))`],
    ["its maps", `T(lambda: open("/proc/1/maps").read())`],
    ["its environment", `T(lambda: open("/proc/1/environ").read())`],
    ["its descriptors", `T(lambda: os.listdir("/proc/1/fd"))`],
    ["its root", `T(lambda: os.listdir("/proc/1/root/"))`],
    ["its working directory", `T(lambda: os.listdir("/proc/1/cwd/"))`],
    ["its namespaces", `T(lambda: os.open("/proc/1/ns/user", os.O_RDONLY))`],
    ["its limits", `T(lambda: __import__("resource").prlimit(1, 7, (0, 0)))`],
    ["process_vm_readv", `T(lambda: SC(NR(310,270), 1, 0, 0, 0, 0, 0))`],
    ["pidfd_getfd", `T(lambda: SC(438, os.pidfd_open(1), 0, 0))`],
    ["process_madvise", `T(lambda: SC(440, os.pidfd_open(1), 0, 0, 0, 0))`],
    ["kcmp", `T(lambda: SC(NR(312,272), os.getpid(), 1, 0, 0, 0))`],
    ["its out-of-memory score", `T(lambda: os.write(os.open("/proc/1/oom_score_adj", os.O_WRONLY), b"1000"))`],
  ] as const)("%s", ([id, code], context) => {
    if (id === "its descriptors") skipForSharedUser(context, "their numbers are listed, where it has the same user");
    return hold(toProbe(id, code, { check: DENIED }), prelude, stage);
  });

  test("every signal there is", () =>
    hold(
      toProbe("every signal", `for s in range(1, 65):\n    try: os.kill(1, s)\n    except OSError: pass\n"real"`, {
        check: { alive: true, value_re: "real" },
      }),
      prelude,
      stage,
    ));
});

describe("attempts on the walls", () => {
  test.for([
    ["a mount over /usr", `T(lambda: SC(NR(165,40), b"tmpfs", b"/usr", b"tmpfs", 0, 0))`],
    ["a bind mount", `T(lambda: SC(NR(165,40), b"/tmp", b"/usr", 0, 4096, 0))`],
    ["a remount for writing", `T(lambda: SC(NR(165,40), 0, b"/usr", 0, 32 | 4096, 0))`],
    ["unmounting /proc", `T(lambda: SC(NR(166,39), b"/proc", 2))`],
    ["mount_setattr", `T(lambda: SC(442, -100, b"/usr", 0, ctypes.create_string_buffer(32), 32))`],
    [
      "any socket but a pair",
      `def f():\n    for family in range(0, 46):\n        for kind in (1, 2, 3, 5):\n            try: return family, kind, SC(NR(41,198), family, kind, 0)\n            except OSError: pass\n    raise PermissionError("none")\nT(f)`,
    ],
    [
      "a pair of another family",
      `T(lambda: [SC(NR(53,199), f, 1, 0, ctypes.create_string_buffer(8)) for f in (2, 10, 40)])`,
    ],
    ["clone3", `T(lambda: SC(435, ctypes.create_string_buffer(88), 88))`],
    ["a system call of tomorrow", `T(lambda: SC(470, 0))`],
    ["memory without a name", `T(lambda: SC(NR(319,279), b"x", 0))`],
    ["a set-user-ID file by chmod", `open("s", "w").close(); T(lambda: os.chmod("s", 0o4755))`],
    ["a set-group-ID file by fchmod", `fd = os.open("s", os.O_CREAT | os.O_RDWR); T(lambda: os.fchmod(fd, 0o2755))`],
    ["a set-user-ID file by open", `T(lambda: os.open("t", os.O_CREAT | os.O_RDWR, 0o4755))`],
    ["a set-user-ID file by mknod", `T(lambda: os.mknod("u", 0o104755))`],
    ["a set-user-ID file by fchmodat2", `open("s", "w").close(); T(lambda: SC(452, -100, b"s", 0o4755, 0))`],
    ["a set-user-ID file by openat2", `T(lambda: SC(437, -100, b"v", struct.pack("=QQQ", 0o102, 0o4755, 0), 24))`],
    ["a set-user-ID file without a name", `T(lambda: os.open(".", os.O_TMPFILE | os.O_RDWR, 0o4755))`],
    ["a device", `T(lambda: os.mknod("d", 0o020600, os.makedev(1, 1)))`],
    ["setgroups", `T(lambda: os.setgroups([0]))`],
    ["another user", `T(lambda: os.setresuid(0, 0, 0))`],
  ] as const)("%s", ([id, code]) => {
    return hold(toProbe(id, code, { check: DENIED }), prelude, stage);
  });

  test("no file in /proc/sys can be written", async () => {
    const code = `def f():
    for folder, _, files in os.walk("/proc/sys"):
        for name in files:
            try: os.close(os.open(os.path.join(folder, name), os.O_WRONLY)); return os.path.join(folder, name)
            except OSError: pass
    raise PermissionError("none")
T(f)`;
    await hold(toProbe("proc sys", code, { check: DENIED }), prelude, stage);
  });

  test("a set-user-ID program of the system runs without its privilege", async () => {
    expect(
      await json(
        `subprocess.run(["/bin/sh", "-c", "exec /usr/bin/passwd -S root; exec /bin/su -c id"], capture_output=True).returncode != 0`,
      ),
    ).toBe(true);
    expect(
      await json(`subprocess.run(["id", "-u"], capture_output=True, text=True).stdout == f"{os.getuid()}\\n"`),
    ).toBe(true);
  });
});

describe("folders of the host", () => {
  test("a folder mounted for reading cannot be changed in any way", async () => {
    const folder = join(stage.canaries.scratch, "open", "ro");
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    writeFileSync(join(folder, "file"), "before");
    chmodSync(join(folder, "file"), 0o666);
    await using reader = await stage.runtime.openSession({ mounts: [{ path: folder, mode: "ro" }] });
    await reader.execute(`${prelude}\nos.chdir(${JSON.stringify(folder)})`).result;
    expect((await reader.execute(`open("file").read()`).result).value).toEqual({ "text/plain": "'before'" });
    const before = statSync(join(folder, "file"));
    // Calls that do nothing and succeed where Landlock alone keeps the file.
    for (const attempt of [`os.chmod("file", 0)`, `os.utime("file")`]) {
      const { value } = await reader.execute(`T(lambda: ${attempt})`).result;
      if (TIER !== "C") expect(value?.["text/plain"], attempt).toMatch(/^.DENIED/);
    }
    for (const attempt of [
      `open("file", "w")`,
      `open("new", "w")`,
      `os.truncate("file", 0)`,
      `os.rename("file", "other")`,
      `os.unlink("file")`,
      `os.link("file", "hard")`,
      `os.symlink("a", "b")`,
      `os.mkdir("d")`,
      `os.setxattr("file", "user.x", b"1")`,
      `os.open("/proc/self/fd/%d" % os.open("file", os.O_RDONLY), os.O_RDWR)`,
    ]) {
      const { value } = await reader.execute(`T(lambda: ${attempt})`).result;
      expect(value?.["text/plain"], attempt).toMatch(/^.DENIED/);
    }
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("before");
    const { mode, mtimeMs } = statSync(join(folder, "file"));
    expect(mode).toBe(before.mode);
    if (TIER !== "C") expect(mtimeMs).toBe(before.mtimeMs); // everybody may write to the file, and so set its time to now
  });

  test("a link in a folder mounted for writing leads nowhere", async () => {
    const secret = `${stage.values["HOME"]}/.ssh/id_rsa`;
    symlinkSync(secret, join(shared, "by-the-host"));
    const link = JSON.stringify(join(shared, "by-the-session"));
    for (const attempt of [
      `open(${JSON.stringify(join(shared, "by-the-host"))}).read()`,
      `[os.symlink(${JSON.stringify(secret)}, ${link}), open(${link}).read()]`,
      `open(${JSON.stringify(`${shared}/../${stage.canaries.scratch.split("/").at(-1)}/home/.ssh/id_rsa`)}).read()`,
      `os.link("/usr/bin/env", ${JSON.stringify(join(shared, "hard"))})`,
      `os.rename("/usr/bin/env", ${JSON.stringify(join(shared, "moved"))})`,
    ]) {
      expect((await session.execute(`T(lambda: ${attempt})`).result).value?.["text/plain"], attempt).toMatch(
        /^.DENIED/,
      );
    }
  });

  test("a file written there belongs to the folder's owner and carries no set-user-ID bit", async () => {
    const path = JSON.stringify(join(shared, "written"));
    expect(await json(`open(${path}, "w").write("hello")`)).toBe(5);
    expect(await json(`T(lambda: os.chmod(${path}, 0o6755))[:6]`)).toBe("DENIED");
    const { uid, mode } = statSync(join(shared, "written"));
    expect({ uid, bits: mode & 0o6000 }).toEqual({ uid: process.getuid?.(), bits: 0 });
  });

  test("a link that takes the place of a folder between the check and the mount is not followed", async (context) => {
    skipInTierC(context, "it has no mounts of its own; mount-advice.test.ts shows it");
    // Forces the race: the path becomes a link after it was resolved and before it is mounted.
    const { LocalSandbox } = await import("../../../src/environments/local/local-sandbox.ts");
    const { ForkServer } = await import("../../../src/environments/local/fork-server.ts");
    symlinkSync(stage.values["HOME"] ?? "", join(shared, "swapped"));
    const server = await ForkServer.start(
      { executable: python, preload: [], cacheFolder: undefined, tier: "A" },
      new AbortController().signal,
    );
    const limits = { memoryBytes: 2 ** 28, diskBytes: 2 ** 24, processes: 32, openFiles: 128, branches: 1 };
    const mounts: Mount[] = [{ path: join(shared, "swapped"), mode: "ro" }];
    try {
      await expect(LocalSandbox.open(server, { mounts, limits })).rejects.toThrow(/symbolic link/);
    } finally {
      await server.close();
    }
  });

  test.each<[string, Mount]>([
    ["the root", { path: "/", mode: "ro" }],
    ["/etc", { path: "/etc", mode: "ro" }],
    ["/proc", { path: "/proc", mode: "ro" }],
    ["a part of /proc", { path: "/proc/self", mode: "ro" }],
    ["/sys/kernel", { path: "/sys/kernel", mode: "ro" }],
    ["every home", { path: "/home", mode: "ro" }],
    ["the home of the host's user", { path: homedir(), mode: "ro" }],
    ["a way around", { path: "/usr/../etc", mode: "ro" }],
    ["a NUL byte", { path: "/tmp/a\0b", mode: "ro" }],
    ["what does not exist", { path: "/nowhere/at/all", mode: "ro" }],
    ["a device", { path: "/dev/null", mode: "ro" }],
    ["a file for writing", { path: join(import.meta.dirname, "../stage.ts"), mode: "rw" }],
    ["an unknown mode", { path: tmpdir(), mode: "rwx" as "rw" }],
    ["the sandbox's own folders", { path: "/usr", mode: "rw" }],
  ])("%s cannot be mounted", async (_, mount) => {
    await expect(stage.runtime.openSession({ mounts: [mount] })).rejects.toThrow(REPLSecurityError);
  });

  test("a socket, and a link to a forbidden folder, cannot be mounted", async () => {
    for (const path of [stage.values["UNIXPATH"] ?? "", join(shared, "etc")]) {
      if (!existsSync(path)) symlinkSync("/etc", path);
      await expect(stage.runtime.openSession({ mounts: [{ path, mode: "ro" }] })).rejects.toThrow(REPLSecurityError);
    }
  });
});

async function printed(code: string): Promise<string> {
  return (await session.execute(code).result).stdout;
}

/** The value of the last expression, passed as JSON. */
async function json(code: string): Promise<unknown> {
  const lines = code.split("\n");
  const whole = lines.length > 1 && !code.startsWith("sorted(");
  const [setup, last] = whole ? [lines.slice(0, -1).join("\n"), lines.at(-1)] : ["", code];
  const result = await session.execute(`${setup}\nprint(json.dumps(${last}))`).result;
  if (result.status !== "ok") throw new Error(result.error?.traceback);
  return JSON.parse(result.stdout);
}
