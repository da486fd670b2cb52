// Tier B: bubblewrap makes the namespaces of a session, because this user may not. The host is always an ordinary user.

/** @module-tag stress */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { childrenOf, comesTrue, descendantsOf, isAlive, processesWith, python } from "../machine.ts";
import { copyForAll, type ForAll } from "../ordinary-user.ts";
import { expand } from "../probe.ts";
import { openStage, readCorpus } from "../stage.ts";

const USER = 64125;
const MIB = 2 ** 20;
const isFull = process.env["RLM_TIERS"] === "all";
const isRoot = process.getuid?.() === 0;
const asUser = isRoot ? { uid: USER, gid: USER } : {};
const fixtures = join(import.meta.dirname, "../../fixtures");
const why = !existsSync("/usr/bin/bwrap")
  ? "bubblewrap is not installed"
  : spawnSync("/usr/bin/bwrap", ["--unshare-user", "--ro-bind", "/", "/", "true"], asUser).status !== 0
    ? "bubblewrap may not make namespaces here"
    : "";
const ATTEMPT =
  "import os\ndef held(work):\n  try: work()\n  except OSError as error: return error.strerror\n  return 'done'";

let folder: string;
let forAll: ForAll;

beforeAll(async () => {
  forAll = await copyForAll();
  folder = mkdtempSync(join(tmpdir(), "tier-b-"));
  chmodSync(folder, 0o777);
});

afterAll(() => {
  forAll.remove();
  rmSync(folder, { recursive: true });
});

interface Options {
  readonly tier?: string;
  /** Programs that start the host. */
  readonly before?: readonly string[];
  readonly env?: Record<string, string>;
  /** They start as root, and make the host an ordinary user. */
  readonly asRoot?: boolean;
}

function startHost(fixture: string, task: readonly string[], { tier = "B", before = [], env, asRoot }: Options = {}) {
  const host = [forAll.node, forAll.add(join(fixtures, fixture)), join(forAll.folder, "dist"), ...task];
  const [program = "", ...args] = [...before, ...host];
  const variables = { PATH: "/usr/bin:/bin", HOME: forAll.folder, RLM_DATA: forAll.data, TEST_PYTHON: python };
  return spawn(program, args, {
    cwd: "/",
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...variables, ...(tier !== "" && { RLM_SANDBOX_TIER: tier }), ...env },
    ...(asRoot !== true && asUser),
  });
}

/** What a host prints. Rejects with its errors if that is nothing. */
async function answer(host: ReturnType<typeof startHost>, input?: unknown): Promise<unknown> {
  host.stdin.end(input === undefined ? undefined : JSON.stringify(input));
  const [output, errors] = await Promise.all([text(host.stdout), text(host.stderr), once(host, "exit")]);
  if (output === "") throw new Error(errors);
  return JSON.parse(output);
}

/** The values of codes in one session; for one that did not end well the reason, or the name of its error. */
async function run(codes: readonly string[], session: object = {}, options: Options = {}): Promise<unknown[]> {
  const values = (await answer(startHost("user-host.mjs", ["run"], options), { codes, ...session })) as unknown[];
  return values.map((value) => {
    if (typeof value !== "object" || value === null) return value;
    const { reason, name } = value as { readonly reason?: string; readonly name?: string };
    return reason ?? name;
  });
}

/** A folder that the ordinary user owns. */
function ownFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  if (isRoot) chownSync(path, USER, USER);
  return path;
}

describe.skipIf(why !== "")(`tier B${why && ` (${why})`}`, { timeout: 120_000 }, () => {
  test("code has a root, processes, a user and a network of its own, and no way to more", async () => {
    const attempts = {
      "open('/new', 'w')": "Read-only file system",
      "open('/usr/new', 'w')": "Read-only file system",
      "open('/proc/self/oom_score_adj', 'w')": "Read-only file system",
      "open('/dev/zero', 'w')": "Permission denied",
      "__import__('socket').socket()": "Permission denied",
      "os.chroot('/tmp')": "Operation not permitted",
      "os.setuid(0)": "Invalid argument",
      [`os.stat('${folder}')`]: "No such file or directory",
    };
    const facts = `[sorted(os.listdir('/')), os.getcwd(), os.getuid(), os.getppid(), os.uname().nodename,
  [name for name in os.listdir('/proc') if name.isdigit() and int(name) > 99], os.listdir('/sys') if os.path.exists('/sys') else None]`;
    const libc = `import ctypes; c = ctypes.CDLL(None, use_errno=True)
(c.unshare(0x10000000), c.mount(b'none', b'/tmp', b'tmpfs', 0, None), c.inotify_init())`;
    const codes = Object.keys(attempts).map((attempt) => `held(lambda: ${attempt})`);
    const [, found, calls, ...held] = await run([ATTEMPT, facts, libc, ...codes]);
    expect(found).toMatch(/^\[\['bin', 'dev', 'etc', 'forks', .*'work'\], '\/work', 1000, 1, 'sandbox', \[\], None\]$/);
    expect(calls).toBe("(-1, -1, -1)");
    const expected = Object.values(attempts).map((reason) => `'${reason}'`);
    expect(held).toEqual(expected);
  });

  test("mounts are read-only or writable as asked, and secrets in them cannot be opened", async () => {
    const shown = ownFolder("shown");
    const given = ownFolder("given");
    mkdirSync(join(shown, ".ssh"));
    for (const [name, content] of [
      ["plain", "seen"],
      [".env", "SECRET"],
      [".ssh/id_rsa", "SECRET"],
    ] as const) {
      writeFileSync(join(shown, name), content);
      chmodSync(join(shown, name), 0o644);
    }
    const codes = [
      ATTEMPT,
      `open('${shown}/plain').read()`,
      `held(lambda: open('${shown}/plain', 'w'))`,
      `held(lambda: open('${shown}/.env'))`,
      `held(lambda: open('${shown}/.ssh/id_rsa'))`,
      `held(lambda: os.chmod('${shown}/.env', 0o666))`,
      `open('${given}/made', 'w').write('inside')`,
    ];
    const mounts = [
      { path: shown, mode: "ro", hideSecrets: true },
      { path: given, mode: "rw" },
    ];
    expect(await run(codes, { mounts })).toEqual([
      null,
      "'seen'",
      expect.stringMatching(/Read-only|denied/),
      "'Permission denied'",
      "'Permission denied'",
      "'Read-only file system'",
      "6",
    ]);
    expect(readFileSync(join(given, "made"), "utf8")).toBe("inside");
  });

  test("paths of mounts are in no command line", async () => {
    const path = ownFolder("private-name");
    const host = startHost("user-host.mjs", ["run"]);
    const codes = ["import time; time.sleep(1000)"];
    host.stdin.end(JSON.stringify({ codes, mounts: [{ path, mode: "ro" }] }));
    const commands = (): string[] => descendantsOf(host.pid ?? 0).map((pid) => read(`/proc/${pid}/cmdline`));
    expect(
      await comesTrue(() =>
        commands().some((line) => line.includes("\0-I\0-c\0import marshal") && !line.startsWith("/usr/bin/bwrap")),
      ),
    ).toBe(true);
    expect(commands().filter((line) => line.includes("private-name"))).toEqual([]);
    host.kill("SIGKILL");
    await once(host, "exit");
  });

  test("memory, processes, disk space and files are limited", async () => {
    const limits = { memoryBytes: 256 * MIB, diskBytes: 32 * MIB, processes: 40 };
    const forks = `import os, time
def fork():
  n = 0
  try:
    while n < 200:
      if os.fork() == 0: time.sleep(60); os._exit(0)
      n += 1
  except OSError: return n < 40
fork()`;
    const fill = `def fill(path, mebibytes):
  with open(path, 'wb') as file:
    for _ in range(mebibytes): file.write(bytes(1 << 20))`;
    const many = "for n in range(300000): os.close(os.open(f'{n}', os.O_CREAT))";
    const codes = [
      forks,
      ATTEMPT,
      fill,
      "held(lambda: fill('a', 20)), held(lambda: fill('b', 20))",
      "import time; fill('/tmp/a', 20); time.sleep(60)",
      "1 + 1",
      `import os\n${many}`,
      "len(bytearray(1 << 30))",
    ];
    expect(await run(codes, { limits })).toEqual([
      "True",
      null,
      null,
      "('done', 'No space left on device')",
      "memory",
      "2",
      "memory",
      "MemoryError",
    ]);
  });

  test("sessions fork, return to checkpoints, are interrupted, exchange files and run commands", async () => {
    expect(await answer(startHost("features-host.mjs", []))).toEqual({
      copied: "(1, 'one')",
      status: "timeout",
      stateAfter: "3",
      rewound: "2",
      given: "'from outside'",
      shell: "42\n",
      tier: "B",
      lines: 5,
      preloaded: [],
    });
  });

  test("what must be denied is denied", { tags: "stress" }, async () => {
    const corpus = readCorpus("sandbox-probes.json");
    await using stage = await openStage();
    const denied = corpus.probes.filter(
      ({ language, category, expected, sibling_setup: setup }) =>
        language === "python" && category !== "protocol" && expected === "denied" && setup === undefined,
    );
    const values = { ...stage.values, SID: "s", EID: "s.2", SLEEPMARK: "1" };
    const step = isFull ? 1 : 5;
    const probes = denied
      .filter((_, index) => index % step === 0)
      .map(({ id, code }) => ({ id, code: expand(code, values), timeoutMs: 20_000, prelude: corpus.prelude_python }));
    const { tier, results } = (await answer(startHost("hostile-host.mjs", ["probe"]), probes)) as {
      readonly tier: string;
      readonly results: readonly { readonly value?: Record<string, string>; readonly after?: Record<string, string> }[];
    };
    expect([tier, results.length]).toEqual(["B", probes.length]);
    const isHeld = ({ value, after }: (typeof results)[0]): boolean =>
      /^.DENIED/.test(value?.["text/plain"] ?? "") && after?.["text/plain"] === "2";
    expect(results.filter((result) => !isHeld(result))).toEqual([]);
  });

  describe("nothing is left", () => {
    const kills = {
      "the host": (host: number) => host,
      "the fork server": (host: number) => childrenOf(host)[0] ?? 0,
      bubblewrap: (host: number) => bubblewrapOf(host),
      "the init": (host: number) => childrenOf(bubblewrapOf(host))[0] ?? 0,
    };

    test.each(Object.entries(kills))("when %s is killed", async (_, find) => {
      const mark = String(7_000_000 + Math.floor(Math.random() * 999_999));
      const code = `import subprocess; _ = subprocess.Popen(['setsid', 'bash', '-c', 'sleep ${mark} & sleep ${mark}'], start_new_session=True)`;
      const host = startHost("user-host.mjs", ["hold", code]);
      await once(host.stdout, "data");
      expect(await comesTrue(() => processesWith(mark).length >= 2)).toBe(true);
      const [forkServer = 0] = childrenOf(host.pid ?? 0);
      const theirs = descendantsOf(forkServer);
      const victim = find(host.pid ?? 0);
      expect([forkServer, host.pid, ...theirs]).toContain(victim);
      process.kill(victim, "SIGKILL");
      expect(await comesTrue(() => theirs.every((pid) => !isAlive(pid)))).toBe(true);
      expect(processesWith(mark)).toEqual([]);
      host.kill("SIGKILL");
    });

    // Bubblewrap's child waits for it without end, if it is killed before it has said who its child is.
    test.skipIf(!isRoot)("when bubblewrap is killed at the start of its child", async () => {
      const mark = String(8_000_000 + Math.floor(Math.random() * 999_999));
      const program = writeProgram(
        "killed",
        `sleep ${mark} &\nwhile ! pgrep -fx "sleep ${mark}"; do :; done\nkill -9 $$`,
      );
      await expect(run(["1"], {}, { env: { RLM_BWRAP: program } })).rejects.toThrow(
        /start in bubblewrap: it was killed/,
      );
      expect(processesWith(mark)).toEqual([]);
    });
  });

  test.skipIf(!isRoot)("nothing is left when the host ends before bubblewrap has begun", async () => {
    const started = join(folder, "started");
    // It becomes bubblewrap when the fork server is gone.
    const wait = `echo > '${started}'\nwhile kill -0 $PPID 2>/dev/null; do :; done\nexec /usr/bin/bwrap "$@"`;
    const host = startHost("user-host.mjs", ["hold"], { env: { RLM_BWRAP: writeProgram("late", wait) } });
    expect(await comesTrue(() => existsSync(started))).toBe(true);
    host.kill("SIGKILL");
    await once(host, "exit");
    expect(await comesTrue(isNobodyLeft)).toBe(true);
  });

  test("where privileges are taken from our namespaces and not from bubblewrap's, as on Ubuntu, it is used", async () => {
    const before = [python, forAll.add(join(fixtures, "old-kernel.py")), "mount+private=EPERM"];
    const found = (await answer(startHost("features-host.mjs", [], { tier: "", before }))) as { readonly tier: string };
    expect(found.tier).toBe("B");
    await expect(answer(startHost("features-host.mjs", [], { tier: "A", before }))).rejects.toThrow(
      /tier A failed to build the root.*Operation not permitted/,
    );
  });

  test.skipIf(!isRoot)("a set-user-ID bubblewrap works where there are no user namespaces", async () => {
    const before = [python, forAll.add(join(fixtures, "setuid-bwrap.py")), String(USER)];
    const options = { tier: "", before, asRoot: true };
    const found = (await answer(startHost("features-host.mjs", [], options))) as { readonly tier: string };
    expect(found.tier).toBe("B");
    const codes = [
      ATTEMPT,
      "os.getuid(), os.getppid(), open('/proc/sys/user/max_user_namespaces').read()",
      "held(lambda: os.stat('/mnt')), held(lambda: open('/usr/new', 'w')), held(lambda: os.setuid(0))",
      "import time\nfor name in 'ab': open(name, 'wb').write(bytes(20 << 20))\ntime.sleep(60)",
    ];
    const limits = { diskBytes: 32 * MIB };
    expect(await run(codes, { limits }, options)).toEqual([
      null,
      `(${USER}, 1, '0\\n')`,
      "('No such file or directory', 'Read-only file system', 'Operation not permitted')",
      "memory",
    ]);
  });

  test.skipIf(!isRoot)("a folder that is replaced while the session is opened is not mounted", async () => {
    const path = join(ownFolder("replaced"), "folder");
    mkdirSync(path);
    const swap = `mv '${path}' '${path}-before' && ln -s /etc '${path}'`;
    const program = writeProgram("swapping", `${swap}\nexec /usr/bin/bwrap "$@"`);
    const opening = run(["1"], { mounts: [{ path, mode: "ro" }] }, { env: { RLM_BWRAP: program } });
    await expect(opening).rejects.toThrow(/failed to mount: .*it was replaced while the session was opened/);
  });

  // The last one, about all of the others.
  test.skipIf(!isRoot)("no process of any session is left", async () => {
    await comesTrue(isNobodyLeft);
    expect(processesOfUser().map((pid) => read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 200))).toEqual(
      [],
    );
  });
});

/** A program of root that stands for bubblewrap. It says that it can do everything. */
function writeProgram(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = --help ]; then exec /usr/bin/bwrap --help; fi\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A process may fork and end while the first list is read. */
function isNobodyLeft(): boolean {
  return processesOfUser().length === 0 && processesOfUser().length === 0;
}

/** Nobody else has this user. */
function processesOfUser(): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => new RegExp(`^Uid:\\s+${USER}\\s`, "m").test(read(`/proc/${pid}/status`)))
    .map(Number)
    .filter(isAlive);
}

function bubblewrapOf(host: number): number {
  const [forkServer = 0] = childrenOf(host);
  return childrenOf(forkServer).find((pid) => read(`/proc/${pid}/cmdline`).startsWith("/usr/bin/bwrap")) ?? 0;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
