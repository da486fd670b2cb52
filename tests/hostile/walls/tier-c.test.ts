// Tier C: sessions without namespaces. What namespaces do elsewhere is done by Landlock, filters, users and marks here.

/** @module-tag stress */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { childrenOf, comesTrue, isAlive, python } from "../machine.ts";
import { copyForAll, type ForAll } from "../ordinary-user.ts";

const USER = 64003;
const isRoot = process.getuid?.() === 0;
/** A process that no parent waits for, in a session of its own. */
const HIDE =
  "import subprocess; _ = subprocess.Popen(['setsid', 'bash', '-c', 'sleep 7654321 & sleep 7654321'], start_new_session=True)";
const BOMB =
  "import os\nfor _ in range(20):\n  if os.fork() == 0:\n    while True:\n      if os.fork(): os._exit(0)\nprint('up')";

let folder: string;
let forAll: ForAll;

beforeAll(async () => {
  forAll = await copyForAll();
  folder = mkdtempSync(join(tmpdir(), "tier-c-"));
  chmodSync(folder, 0o1777);
  vi.stubEnv("RLM_SANDBOX_TIER", "C");
  vi.stubEnv("TMPDIR", folder);
});

afterAll(() => {
  vi.unstubAllEnvs();
  forAll.remove();
  rmSync(folder, { recursive: true });
});

const users = isRoot ? (["root", "an ordinary user"] as const) : (["an ordinary user"] as const);

describe.each(users)("as %s", (who) => {
  const owner = isRoot && who !== "root" ? { uid: USER, gid: USER } : {};

  /** The values of codes in one session, or the names of their errors. */
  async function run(codes: readonly string[], mounts: readonly object[] = []): Promise<unknown[]> {
    const host = startHost(owner, ["run"]);
    host.stdin.end(JSON.stringify({ codes, mounts }));
    const values = JSON.parse(await text(host.stdout)) as unknown[];
    return values.map((value) => (typeof value === "object" && value !== null && "name" in value ? value.name : value));
  }

  test("code cannot signal, stop, group or reschedule its init, nor signal the fork server", async () => {
    const attempts = [
      "os.kill(init, 9)",
      "os.kill(init, 19)",
      "os.kill(-1, 9)",
      "os.killpg(init, 9)",
      "os.setpgid(0, init)",
      "os.pidfd_open(init)",
      "signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 0)",
      "fcntl.fcntl(0, 8, init)",
      "fcntl.fcntl(0, 10, 9)",
      "fcntl.ioctl(0, 0x8901, struct.pack('i', init))",
      "os.setpriority(os.PRIO_PROCESS, init, 19)",
      "os.sched_setaffinity(init, {0})",
      "resource.prlimit(init, resource.RLIMIT_NOFILE, (0, 0))",
      "os.kill(server, 0)",
      "os.kill(server, 9)",
    ];
    const prepare = `import os, fcntl, signal, struct, resource\ninit = os.getppid()
server = int(open(f'/proc/{init}/stat').read().rpartition(')')[2].split()[1])
def held(attempt):
  try: attempt()
  except OSError: return True`;
    const codes = attempts.map((attempt) => `held(lambda: ${attempt})`);
    const values = await run([prepare, ...codes, "1 + 1"]);
    expect(values).toEqual([null, ...attempts.map(() => "True"), "2"]);
  });

  test("the mark of its sandbox cannot be changed", async () => {
    const code =
      "import resource as r; m = r.getrlimit(15); r.setrlimit(15, (1, 1)); r.prlimit(0, 15, (1, 1)); r.getrlimit(15) == m > (9,)";
    expect(await run([code])).toEqual(["True"]);
  });

  test("nothing but its own files and what programs need can be listed, opened or watched", async () => {
    const file = join(folder, `readable-${USER}`);
    writeFileSync(file, "", { mode: 0o666 });
    chmodSync(file, 0o666);
    const attempts = [
      `open('${file}')`,
      `open('${file}', 'a')`,
      `open('${file}x', 'w')`,
      `os.truncate('${file}', 0)`,
      `os.listdir('${folder}')`,
      "os.listdir('/')",
      "os.listdir('/dev/shm')",
      "os.listdir(os.path.dirname(os.path.dirname(os.getcwd())))",
      "open('/etc/hostname')",
      "open('/proc/self/comm', 'w')",
      "open(f'/proc/{os.getppid()}/environ')",
      "socket.socket()",
    ];
    const held = "def held(attempt):\n  try: attempt()\n  except OSError: return True";
    const libc =
      "import ctypes; c = ctypes.CDLL(None, use_errno=True); c.inotify_add_watch(c.inotify_init(), b'/tmp', 256)";
    const codes = ["import os, socket", held, ...attempts.map((attempt) => `held(lambda: ${attempt})`), libc];
    expect(await run(codes)).toEqual([null, null, ...attempts.map(() => "True"), "-1"]);
    rmSync(file);
  });

  test("modes, owners and times of the user's files outside stay, by path and in read-only mounts", async () => {
    const shown = join(folder, `shown-${who.length}`);
    mkdirSync(shown);
    const files = [join(folder, `own-${who.length}`), join(shown, "file")];
    for (const path of files) writeFileSync(path, "kept");
    if (isRoot) for (const path of [shown, ...files]) chownSync(path, USER, USER);
    const before = files.map((path) => statSync(path));
    const attack = (path: string): string => `import os, subprocess
def attempt(work):
  try: work()
  except OSError: pass
p = ${JSON.stringify(path)}
for work in (lambda: os.chmod(p, 0o777), lambda: os.utime(p, (1, 1)), lambda: os.chown(p, -1, os.getgid()),
             lambda: os.fchmod(os.open(p, 0), 0o777), lambda: os.utime(os.open(p, 0), (1, 1)), lambda: os.truncate(p, 0),
             lambda: os.removexattr(p, 'user.x'), lambda: os.chmod(f'/proc/self/fd/{os.open(p, os.O_PATH)}', 0o777),
             lambda: os.symlink(p, 'soft'), lambda: os.chmod('soft', 0o777), lambda: os.utime('soft', (1, 1)),
             lambda: os.link(p, 'hard'), lambda: os.chmod('hard', 0o777), lambda: os.rename(p, 'moved'), lambda: os.chmod('moved', 0o777),
             lambda: os.chmod(os.path.basename(p), 0o777, dir_fd=os.open(os.path.dirname(p), os.O_PATH)),
             lambda: os.fchmod(os.open(p, os.O_PATH), 0o777)):
  attempt(work)
subprocess.run(['bash', '-c', f'chmod 777 {p}; touch {p}; echo > {p}'], capture_output=True).returncode`;
    await run(files.map(attack), [{ path: shown, mode: "ro" }]);
    for (const [index, path] of files.entries()) {
      const { mode, mtimeMs, ctimeMs, size } = statSync(path);
      expect({ mode, mtimeMs, ctimeMs, size }).toMatchObject({
        mode: before[index]?.mode,
        mtimeMs: before[index]?.mtimeMs,
        ctimeMs: before[index]?.ctimeMs,
        size: 4,
      });
      rmSync(path);
    }
    rmSync(shown, { recursive: true });
  });

  test("when the host is killed, every process ends and its files are removed", async () => {
    const host = startHost(owner, ["hold", HIDE]);
    await once(host.stdout, "data");
    const marks = theirMarks();
    expect(await comesTrue(() => processesMarked(marks).filter(isHidden).length >= 2)).toBe(true);
    const ended = once(host, "exit");
    host.kill("SIGKILL");
    await ended;
    await expectNothingLeft(marks);
  });

  test("a session that forks all the time ends when it is closed", async () => {
    const host = startHost(owner, ["hold", BOMB]);
    onTestFinished(() => void host.kill("SIGKILL")); // a failure must not leave it to the next tests
    await once(host.stdout, "data");
    const marks = theirMarks();
    // Beside the init and the worker. Most are gone before a scan gets to them, so few are seen at once.
    const seen = new Set<number>();
    const look = (): boolean => {
      for (const pid of processesMarked(marks)) seen.add(pid);
      return seen.size > 3;
    };
    expect(await comesTrue(look)).toBe(true);
    const ended = once(host, "exit");
    host.stdin.end();
    await ended;
    await expectNothingLeft(marks);
  });

  test("what is left when everything is killed at once is removed at the next start", async () => {
    const host = startHost(owner, ["hold", HIDE]);
    await once(host.stdout, "data");
    const marks = theirMarks();
    const ended = once(host, "exit");
    const [keeper = 0] = childrenOf(host.pid ?? 0);
    // All in one call, because their ends are seen by the others. Some of the children may end by themselves.
    spawnSync("kill", ["-KILL", ...[keeper, ...childrenOf(keeper), host.pid ?? 0].map(String)]);
    await ended;
    expect(bases()).toHaveLength(1);
    expect(await run(["1"])).toEqual(["1"]);
    await expectNothingLeft(marks);
  });
});

describe("the end of a sandbox", () => {
  let runtime: Runtime;
  let session: Session;
  let marks: bigint[];

  beforeAll(async () => {
    runtime = await openTestRuntime({ poolSize: 0 });
  });
  afterAll(() => runtime.close());

  async function openHiding(): Promise<Session> {
    const opened = await runtime.openSession();
    await opened.execute(HIDE).result;
    marks = theirMarks();
    expect(await comesTrue(() => processesMarked(marks).filter(isHidden).length >= 2)).toBe(true);
    return opened;
  }

  test("closing a session ends what it hid and removes its files, whatever their modes", async () => {
    session = await openHiding();
    const code =
      "import os; os.makedirs('a/b'); open('a/b/c', 'w'); os.chmod('a/b', 0); os.chmod('a', 0o500); os.getcwd()";
    const work = JSON.parse((await valueOf(session, code))?.replaceAll("'", '"') ?? "");
    await session.close();
    expect(await comesTrue(() => processesMarked(marks).length === 0)).toBe(true);
    expect(() => statSync(join(work, ".."))).toThrow("ENOENT");
  });

  test("a session cannot reach the files of another", async () => {
    await using other = await runtime.openSession();
    await using own = await runtime.openSession();
    const path = await valueOf(other, "open('secret', 'w').write('x'); __import__('os').path.abspath('secret')");
    for (const attempt of [`open(${path})`, `open(${path}, 'w')`, `__import__('os').listdir(${path}[:-7])`]) {
      expect((await own.execute(attempt).result).error?.name).toBe("PermissionError");
    }
  });

  test("an init that is killed takes its processes with it; the session comes back empty", async () => {
    session = await openHiding();
    const init = Number(await valueOf(session, "__import__('os').getppid()"));
    process.kill(init, "SIGKILL");
    let epoch = 1;
    while (epoch === 1) ({ epoch } = await session.execute("1").result); // the worker ends a moment after the init
    expect(await comesTrue(() => processesMarked(marks).every((pid) => !isHidden(pid)))).toBe(true);
    expect(epoch).toBe(2);
    await session.close();
  });

  test("a fork server that is killed does, too", async () => {
    session = await openHiding();
    const init = Number(await valueOf(session, "__import__('os').getppid()"));
    process.kill(parentOf(init), "SIGKILL");
    await expectNothingLeft(marks);
    await session.execute("0").result; // the host may learn of it only now
    expect((await session.execute("1 + 1").result).value).toEqual({ "text/plain": "2" });
  });
});

function startHost(owner: object, task: readonly string[]) {
  const args = [
    forAll.add(join(import.meta.dirname, "../../fixtures/user-host.mjs")),
    join(forAll.folder, "dist"),
    ...task,
  ];
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: forAll.folder,
    RLM_DATA: forAll.data,
    RLM_SANDBOX_TIER: "C",
    TMPDIR: folder,
    TEST_PYTHON: python,
  };
  return spawn(forAll.node, args, { cwd: "/", stdio: ["pipe", "pipe", "inherit"], env, ...owner });
}

function bases(): string[] {
  return readdirSync(folder).filter((name) => name.startsWith("rlm-sandboxes-"));
}

/** The first mark of each runtime that has its files in our folder. */
function theirMarks(): bigint[] {
  const marks = bases().map((name) => read(join(folder, name, "lock"))); // empty while a runtime starts or ends
  return marks.filter((mark) => mark !== "").map(BigInt);
}

function processesMarked(marks: readonly bigint[]): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isAlive(pid) && marks.some((first) => (markOf(pid) ?? 0n) >> 20n === first >> 20n));
}

function markOf(pid: number): bigint | undefined {
  const found = /^Max realtime timeout +(\d+)/m.exec(read(`/proc/${pid}/limits`));
  return found?.[1] === undefined ? undefined : BigInt(found[1]);
}

function isHidden(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`).includes("7654321");
}

function parentOf(pid: number): number {
  return Number(/\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1]);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

async function expectNothingLeft(marks: readonly bigint[]): Promise<void> {
  expect(await comesTrue(() => processesMarked(marks).length === 0)).toBe(true);
  const gone = (): boolean => theirMarks().every((mark) => !marks.includes(mark));
  expect(await comesTrue(gone)).toBe(true);
}
