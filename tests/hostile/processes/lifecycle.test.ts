// Nothing outlives its owner, even when the host is killed.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRuntime, type Session } from "../../internals.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { childrenOf, comesTrue, descendantsOf, isAlive, parentOf, processesWith, python } from "../machine.ts";
import { nodeForAll } from "../ordinary-user.ts";
import { expand, uniqueSleep, type Probe } from "../probe.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";
import { skipInTierC } from "../../tier.ts";

const fixture = join(import.meta.dirname, "../../fixtures/hostile-host.mjs");
const dist = join(import.meta.dirname, "../../../dist");
const corpus = readCorpus("sandbox-probes.json");

describe("when the host ends, everything ends and nothing stays on disk", () => {
  test.each<[string, (host: ChildProcess) => unknown]>([
    ["SIGKILL", (host) => host.kill("SIGKILL")],
    ["SIGTERM", (host) => host.kill("SIGTERM")],
    ["SIGINT", (host) => host.kill("SIGINT")],
    ["SIGHUP", (host) => host.kill("SIGHUP")],
    ["process.exit()", (host) => host.stdin?.write("exit\n")],
    ["an uncaught exception", (host) => host.stdin?.write("throw\n")],
    ["an unhandled rejection", (host) => host.stdin?.write("reject\n")],
    ["close()", (host) => host.stdin?.write("close\n")],
  ])("%s", async (_, end) => {
    const folder = mkdtempSync(join(tmpdir(), "hostile-life-"));
    const temp = join(folder, "tmp");
    const data = makeDataFolder(join(folder, "data"));
    const marks = [uniqueSleep(), uniqueSleep()];
    const host = startHost(dist, ["spin", marks.join(",")], { TMPDIR: temp, RLM_DATA: data }, temp);
    await once(host.stdout ?? host, "data");
    const family = descendantsOf(host.pid ?? 0);
    expect(family.length, "processes below the host").toBeGreaterThanOrEqual(9);
    for (const mark of marks) await expect.poll(() => processesWith(mark)).toHaveLength(2); // a daemon is on its way

    const exited = once(host, "exit");
    end(host);
    await exited;
    const left = (): number[] => [...family.filter(isAlive), ...marks.flatMap(processesWith)];
    await expect.poll(left).toEqual([]);
    expect(readdirSync(temp)).toEqual([]);
    expect(readdirSync(data).toSorted()).toEqual(["code-cache", "python-cache", "wasm"]); // meant to stay
    rmSync(folder, { recursive: true });
  });
});

describe("when a part of ours is killed", () => {
  test("the fork server: executions are reported lost, their sessions come back empty, new ones open", async () => {
    await using runtime = await openRuntime({ python, preload: [], poolSize: 0 });
    const before = new Set(childrenOf(process.pid));
    const session = await runtime.openSession();
    await session.execute("x = 1").result;
    const [server] = childrenOf(process.pid).filter((pid) => !before.has(pid));
    const running = session.execute("import time; print('now', flush=True); time.sleep(60)");
    await printedSomething(running);
    const family = descendantsOf(server ?? 0);
    process.kill(server ?? 0, "SIGKILL");
    expect(await running.result).toMatchObject({
      status: "interrupted",
      reason: "worker-lost",
      state: "lost",
      epoch: 2,
    });
    expect(await comesTrue(() => !family.some(isAlive))).toBe(true);
    expect((await session.execute("'x' in globals()").result).value).toEqual({ "text/plain": "False" });
    await using another = await runtime.openSession();
    expect((await another.execute("1+1").result).value).toEqual({ "text/plain": "2" });
  });

  test("an idle session learns of it with its next execution", async () => {
    await using runtime = await openRuntime({ python, preload: [], poolSize: 0 });
    const before = new Set(childrenOf(process.pid));
    const session = await runtime.openSession();
    await session.execute("x = 1").result;
    const reset = new Promise((resolve) => session.subscribe(({ type }) => type === "session-reset" && resolve(type)));
    const [server] = childrenOf(process.pid).filter((pid) => !before.has(pid));
    process.kill(server ?? 0, "SIGKILL");
    await reset;
    expect(await session.execute("'x' in globals()").result).toMatchObject({
      value: { "text/plain": "False" },
      epoch: 2,
    });
  });

  test.skipIf(process.getuid?.() !== 0)(
    "the broker: the fork server leaves with it, sessions come back empty, and the next one has its mounts",
    async (context) => {
      skipInTierC(context, "it has no broker");
      await using runtime = await openRuntime({ python, preload: [], poolSize: 0 });
      const before = new Set(childrenOf(process.pid));
      const session = await runtime.openSession();
      await session.execute("x = 1").result;
      const [server = 0] = childrenOf(process.pid).filter((pid) => !before.has(pid));
      const [broker = 0] = childrenOf(server); // its first child
      const running = session.execute("import time; print('now', flush=True); time.sleep(60)");
      await printedSomething(running);
      const family = [server, ...descendantsOf(server)];
      process.kill(broker, "SIGKILL");
      const folder = mkdtempSync(join(tmpdir(), "hostile-broker-"));
      await using another = await runtime.openSession({ mounts: [{ path: folder, mode: "rw" }] });
      const { value } = await another.execute(`open("${folder}/written", "w").write("hello")`).result;
      expect({ value, written: readdirSync(folder) }).toEqual({ value: { "text/plain": "5" }, written: ["written"] });
      expect(await running.result).toMatchObject({ status: "interrupted", reason: "worker-lost", state: "lost" });
      expect(await comesTrue(() => !family.some(isAlive))).toBe(true);
      expect((await session.execute("'x' in globals()").result).value).toEqual({ "text/plain": "False" });
      rmSync(folder, { recursive: true });
    },
  );

  test("an init: its session comes back empty with a new epoch, the others notice nothing", async () => {
    await using runtime = await openRuntime({ python, preload: [], poolSize: 0 });
    const mark = uniqueSleep();
    const sibling = await runtime.openSession();
    await sibling.execute("x = 1").result;
    const session = await runtime.openSession();
    const running = session.execute(
      `import subprocess; print('now', flush=True); subprocess.run(["sleep", "${mark}"])`,
    );
    await printedSomething(running);
    await comesTrue(() => processesWith(mark).length === 1);
    const worker = parentOf(processesWith(mark)[0] ?? 0);
    process.kill(parentOf(worker ?? 0) ?? 0, "SIGKILL");
    expect(await running.result).toMatchObject({
      status: "interrupted",
      reason: "worker-lost",
      state: "lost",
      epoch: 2,
    });
    expect(processesWith(mark)).toEqual([]);
    expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
    expect(await sibling.execute("x").result).toMatchObject({ value: { "text/plain": "1" }, epoch: 1 });
  });
});

describe("processes that a session starts", () => {
  let stage: OpenStage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const daemons: [string, (mark: string) => string][] = [
    ["a child", (mark) => `subprocess.Popen(["sleep", "${mark}"])`],
    [
      "a daemon forked twice",
      (mark) => `if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: os.execvp("sleep", ["sleep", "${mark}"])
    os._exit(0)`,
    ],
    [
      "one that ignores every signal",
      (mark) => `subprocess.Popen(["/bin/sh", "-c", "trap '' HUP INT QUIT TERM; sleep ${mark}; :"])`,
    ],
    [
      "one in a session of its own",
      (mark) => `subprocess.Popen(["setsid", "nohup", "sleep", "${mark}"], stdout=-3, stderr=-3)`,
    ],
  ];

  test.each(daemons)("%s ends with an interrupt of the execution that started it", async (_, start) => {
    await using session = await stage.runtime.openSession();
    const mark = uniqueSleep();
    const running = session.execute(`import os, subprocess, time\n${start(mark)}\nwhile True: time.sleep(1)`);
    expect(await comesTrue(() => processesWith(mark).length > 0)).toBe(true);
    session.interrupt();
    expect(await running.result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
    expect(await comesTrue(() => processesWith(mark).length === 0)).toBe(true);
  });

  test.each(daemons)("%s lives on with its session and ends with it", async (_, start) => {
    const session = await stage.runtime.openSession();
    const mark = uniqueSleep();
    await session.execute(`import os, subprocess, time\n${start(mark)}\nNone`).result;
    expect(await comesTrue(() => processesWith(mark).length > 0)).toBe(true);
    await session.close();
    expect(await comesTrue(() => processesWith(mark).length === 0)).toBe(true);
  });

  // A chain of short-lived processes that no listing catches. It ends by itself if nothing kills it.
  const HOP = `
import os, subprocess, time
def beats(): return os.path.getsize("beat")
def hop():
    open("beat", "w").close()
    subprocess.Popen(["perl", "-e", "open(my $beat, '>>', 'beat'); my $end = time + 10; while (time < $end) { syswrite $beat, '.'; exit if fork }"]).wait()
    before = beats()
    while beats() == before: pass
    print("hops", flush=True)
def is_quiet():
    before = beats()
    time.sleep(0.3)
    return before == beats()
`;

  test(
    "one that forks and ends all the time ends with an interrupt, and with its worker",
    { tags: "stress" },
    async () => {
      await using session = await stage.runtime.openSession();
      await using fork = await session.fork(); // so that the sandbox stays when the worker is ended
      for (const ending of [...Array<string>(8).fill("interrupt"), "death"]) {
        const after = ending === "death" ? "import os; os.kill(os.getpid(), 9)" : "while True: time.sleep(1)";
        const running = session.execute(`${HOP}\nhop()\n${after}`);
        for await (const event of running) {
          if (ending === "interrupt" && event.type === "output-delta") session.interrupt();
        }
        expect(await running.result).toMatchObject({ status: "interrupted" });
        const { value } = await session.execute(`${HOP}\nis_quiet()`).result;
        expect(value?.["text/plain"]).toBe("True");
      }
      expect((await fork.execute("1+1").result).value).toEqual({ "text/plain": "2" });
    },
  );

  test("an interrupt of code without descriptors ends nothing of the session but that code", async () => {
    await using session = await stage.runtime.openSession();
    const task = stage.runtime.shell("echo runs; sleep 600", { session });
    for await (const event of task) if (event.type === "output-delta") break;
    const running = session.execute(`
import os, subprocess, time
child = subprocess.Popen(["sleep", "600"])
held = []
try:
    while True: held.append(os.dup(0))
except OSError:
    os.write(1, b"full")
while True: time.sleep(1)`);
    for await (const event of running) if (event.type === "output-delta") session.interrupt();
    expect(await running.result).toMatchObject({ status: "interrupted", state: "kept" });
    const { value } = await session.execute("[os.close(fd) for fd in held]; child.kill(); child.wait()").result;
    expect(value).toEqual({ "text/plain": "-9" });
    expect(task.info().status).toBe("running");
  });

  test("a hundred zombies are no burden", { tags: "stress" }, async () => {
    await using session = await stage.runtime.openSession();
    await session.execute(`import os\nfor _ in range(100):\n    if os.fork() == 0: os._exit(0)`).result;
    expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
  });
});

describe("as an ordinary user", () => {
  test.skipIf(process.getuid?.() !== 0)(
    "a host without any privilege has the same walls (where the suite is not root, all of it shows this)",
    { tags: "stress" },
    async (context) => {
      skipInTierC(context, "user-probes.test.ts tries every probe, and declares which are not held");
      await using stage = await openStage();
      const folder = mkdtempSync(join(tmpdir(), "hostile-user-"));
      chmodSync(folder, 0o777);
      cpSync(dist, join(folder, "dist"), { recursive: true });
      await new Promise((resolve) => execFile("chmod", ["-R", "a+rX", folder], resolve));
      const probes = ORDINARY.map((id) =>
        toRequest(
          corpus.probes.find((probe) => probe.id === id),
          stage.values,
        ),
      );
      const environment = { TMPDIR: join(folder, "tmp"), RLM_DATA: join(folder, "data"), HOME: folder };
      const host = startHost(join(folder, "dist"), ["probe"], environment, join(folder, "tmp"), 64123);
      host.stdin?.end(JSON.stringify(probes));
      const [output] = await Promise.all([read(host), once(host, "exit")]);
      const { user, results } = JSON.parse(output) as { user: number; results: OrdinaryResult[] };
      expect(user).toBe(64123);
      const bad = results.filter(({ id, value, after }) => {
        const denied = corpus.probes.find((probe) => probe.id === id)?.expected === "denied";
        return after?.["text/plain"] !== "2" || (denied && !/^.DENIED/.test(value?.["text/plain"] ?? ""));
      });
      expect(bad).toEqual([]);
      expect(results).toHaveLength(ORDINARY.length);
      rmSync(folder, { recursive: true });
    },
  );
});

interface OrdinaryResult {
  readonly id: string;
  readonly value?: Record<string, string>;
  readonly after?: Record<string, string>;
}

const ORDINARY = [
  "fs-read-ssh",
  "fs-list-homes",
  "fs-symlink-read",
  "fs-inherited-fds",
  "fs-open-by-handle",
  "env-own-proc",
  "proc-cmdline-scan",
  "proc-fd-of-parent",
  "host-sees-hostpids",
  "net-loopback-tcp",
  "net-udp",
  "net-netlink",
  "net-abstract-unix",
  "net-path-unix",
  "net-high-bits-family",
  "w-etc",
  "w-usr",
  "w-home-rc",
  "w-sysctl",
  "w-uid-map",
  "priv-setuid0",
  "priv-capset",
  "priv-mount",
  "priv-unshare-user",
  "priv-setns",
  "priv-raise-rlimit",
  "x-posix-mq",
  "res-fork-bomb",
  "res-mem-bytearray",
  "res-disk-fill",
  "life-os-exit",
  "life-segv",
  "ok-state",
  "ok-subprocess",
  "ok-mp",
];

function toRequest(probe: Probe | undefined, values: Readonly<Record<string, string>>): object {
  const code = expand(probe?.code ?? "", values);
  return { id: probe?.id, prelude: corpus.prelude_python, code, timeoutMs: 10_000 };
}

function startHost(
  from: string,
  args: string[],
  env: Record<string, string>,
  temp: string,
  uid?: number,
): ChildProcess {
  mkdirSync(temp);
  chmodSync(temp, 0o777);
  const script = join(temp, "..", "host.mjs");
  if (!existsSync(script)) cpSync(fixture, script);
  const node = uid === undefined ? process.execPath : nodeForAll(join(temp, ".."));
  return spawn(node, [script, from, ...args], {
    stdio: ["pipe", "pipe", uid === undefined ? "ignore" : "inherit"],
    env: { PATH: process.env["PATH"] ?? "", TEST_PYTHON: python, ...env },
    cwd: temp,
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

async function read(host: ChildProcess): Promise<string> {
  const { text } = await import("node:stream/consumers");
  return host.stdout === null ? "" : text(host.stdout);
}

async function printedSomething(execution: ReturnType<Session["execute"]>): Promise<void> {
  for await (const event of execution) if (event.type === "output-delta") return;
}
