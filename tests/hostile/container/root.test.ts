// Sessions of tier C whose user is root: they have a folder that only root can use, or the host is root by name only.

/** @module-tag stress */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAlive, processesWith } from "../machine.ts";
import { isRoot, named, openHosts, USER, type Hosts, type Way } from "./container-host.ts";

/** As in a container that was started with `--cap-drop ALL`. */
const WITHOUT_CAPABILITIES = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--ambient-caps", "-all"];
/** Not in a container. */
const canUnshare = spawnSync("unshare", ["-Ur", "true"]).status === 0;
const FORKS = `import os, time
n = 0
while n < 400:
  if os.fork() == 0: time.sleep(60); os._exit(0)
  n += 1`;
/** Each process forks and ends before anybody can find it. The interpreter is a small one, which forks fast. */
const FLEES = `import subprocess, sys
flees = """import os, time
if os.fork(): os._exit(0)
until = time.monotonic() + 45
os.setsid()
for _ in range(40):
  if os.fork() == 0: break
else:
  print(flush=True)
  os._exit(0)
while time.monotonic() < until:
  try:
    if os.fork(): os._exit(0)
  except OSError: pass"""
subprocess.Popen([sys.executable, "-ISc", flees, "this-one-flees"], stdout=subprocess.PIPE).stdout.readline()`;

let hosts: Hosts;
/** Another process of root, with as little privilege. */
let victim: ChildProcess;
let folder: string;

beforeAll(async () => {
  hosts = await openHosts();
  victim = spawn("setpriv", [...WITHOUT_CAPABILITIES.slice(1), "sleep", "600"], {
    env: { PATH: "/usr/bin:/bin", SECRET: "x" },
  });
  await once(victim, "spawn");
  folder = join(hosts.folder, "of-root");
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, "private"), "content", { mode: 0o600 });
});
afterAll(() => {
  victim.kill("SIGKILL");
  hosts[Symbol.dispose]();
});

describe.skipIf(!isRoot)("a private folder of root", () => {
  test("mounted for writing can be read and written, and files belong to root", async () => {
    const codes = [`open("${folder}/private").read()`, `open("${folder}/new", "w").write("made")`];
    expect(await hosts.run({}, { codes, mounts: [{ path: folder, mode: "rw" }] })).toEqual(["'content'", "4"]);
    expect(readFileSync(join(folder, "new"), "utf8")).toBe("made");
    expect(statSync(join(folder, "new")).uid).toBe(0);
  });

  test("mounted for reading can be read, and not changed", async () => {
    const codes = [
      `open("${folder}/private").read()`,
      `open("${folder}/private", "a")`,
      `open("${folder}/made", "w")`,
      `import os; os.unlink("${folder}/private")`,
      `os.chmod("${folder}/private", 0o666)`,
    ];
    const values = named(await hosts.run({}, { codes, mounts: [{ path: folder, mode: "ro" }] }));
    expect(values).toEqual(["'content'", "PermissionError", "PermissionError", "PermissionError", null]);
    expect(statSync(join(folder, "private")).mode & 0o777).toBe(0o600);
  });
});

const ways: [string, Way, boolean][] = [
  ["with a folder of root", {}, true],
  ["with a folder of root, before Linux 6.12", { env: { RLM_SANDBOX_LANDLOCK: "2" } }, true],
  ["of root without capabilities", { through: WITHOUT_CAPABILITIES }, false],
];

describe.skipIf(!isRoot).each(ways)("a session %s", (_, way, mounts) => {
  const work = () => (mounts ? { mounts: [{ path: folder, mode: "rw" }] } : {});

  test("has the user of root and no capability, also in programs that it starts", async () => {
    const codes = [
      "import os, subprocess; (os.getresuid(), os.getgroups() if os.getgroups() else [])",
      "subprocess.run(['grep', '-c', '^Cap[IPEA].*\\t0*$', '/proc/self/status'], capture_output=True).stdout",
    ];
    const [ids, none] = await hosts.run(way, { codes, ...work() });
    expect(ids).toMatch(mounts ? "((0, 0, 0), [])" : "((0, 0, 0)");
    expect(none).toBe("b'4\\n'");
  });

  test("reaches nothing of root's outside: files, processes, settings of the machine", async () => {
    const secret = join(hosts.folder, "secret-of-root");
    writeFileSync(secret, "secret", { mode: 0o600 });
    const opened = join("/usr/local/share", `tier-c-${process.pid}`);
    mkdirSync(opened, { mode: 0o755 });
    writeFileSync(join(opened, "private"), "secret", { mode: 0o600 });
    writeFileSync(join(opened, "public"), "public", { mode: 0o644 });
    const attempts = [
      `open("${secret}").read()`,
      `open("${secret}", "w")`,
      `open("${opened}/private").read()`,
      "open('/etc/shadow').read()",
      `os.listdir("${hosts.folder}")`,
      ...["environ", "mem", "maps", "io", "stack", "auxv"].map(
        (name) => `open(f"/proc/{victim}/${name}", "rb").read(1)`,
      ),
      ...["cwd", "root", "exe", "fd/0"].map((name) => `os.readlink(f"/proc/{victim}/${name}")`),
      ...["self/oom_score_adj", "sys/kernel/hostname", "sys/vm/drop_caches", "sysrq-trigger", "self/uid_map"].map(
        (name) => `open("/proc/${name}", "w")`,
      ),
      "open('/proc/kcore', 'rb').read(1)",
      "open('/proc/kmsg', 'rb').read(1)",
      "open('/dev/kmsg')",
      "os.mknod('device', 0o20600, os.makedev(1, 1))",
      "os.chroot('.')",
      "os.setuid(1) or os.setgroups([1])",
      "os.kill(victim, 0)",
      "os.kill(victim, 9)",
      "os.kill(-1, 9)",
      "os.kill(os.getppid(), 9)",
      "os.sched_setaffinity(victim, {0})",
      "os.setpriority(0, victim, 5)",
      "resource.prlimit(victim, resource.RLIMIT_NOFILE, (0, 0))",
      "resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))",
    ];
    const prepare = `import os, resource\nvictim = ${victim.pid}
def held(attempt):
  try: attempt()
  except (OSError, ValueError): return True`;
    const tried = attempts.map((attempt) => `held(lambda: ${attempt})`);
    try {
      const codes = [prepare, `open("${opened}/public").read(), len(os.listdir("/usr/bin")) > 9`, ...tried];
      const [, readable, ...values] = await hosts.run(way, { codes, ...work() });
      expect(readable).toBe("('public', True)");
      expect(Object.fromEntries(attempts.map((attempt, at) => [attempt, values[at]]))).toEqual(
        Object.fromEntries(attempts.map((attempt) => [attempt, "True"])),
      );
    } finally {
      rmSync(opened, { recursive: true });
      rmSync(secret);
    }
    expect(isAlive(victim.pid ?? 0)).toBe(true);
  });

  test("has no more processes than its limit, which the kernel does not hold for root", async () => {
    const values = await hosts.run(way, {
      codes: [FORKS, "25 < n < 40", "1 + 1"],
      limits: { processes: 40 },
      ...work(),
    });
    expect(named(values)).toEqual(["BlockingIOError", "True", "2"]);
  });

  test("ends when it is closed, however fast its processes fork", { tags: "stress", timeout: 60_000 }, async () => {
    expect(await hosts.run(way, { codes: [FLEES], ...work() })).toHaveLength(1);
    expect(processesWith("this-one-flees")).toEqual([]);
  });
});

describe("root of a user namespace with one user", () => {
  const owner = isRoot ? { uid: USER, gid: USER } : undefined;

  test.skipIf(!canUnshare).each(["C", ""])("is an ordinary user, where RLM_SANDBOX_TIER is '%s'", async (tier) => {
    const way = { through: ["unshare", "-Ur"], ...(owner && { owner }), env: { RLM_SANDBOX_TIER: tier } };
    expect(await hosts.run(way, { codes: ["1 + 1"] })).toEqual(["2"]);
  });

  test.skipIf(!isRoot || !canUnshare)(
    "that is root of the machine is held to its limit of processes in tier A",
    async () => {
      const way = { through: ["unshare", "-Ur"], env: { RLM_SANDBOX_TIER: "" } };
      const values = await hosts.run(way, { codes: [FORKS, "1 + 1"], limits: { processes: 40 } });
      expect(values).toEqual([expect.objectContaining({ reason: "memory" }), "2"]);
    },
  );
});
