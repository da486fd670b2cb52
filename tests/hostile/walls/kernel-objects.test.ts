// Objects of the kernel that no process shows as memory, or that are counted for a user: whoever takes too many of them is ended.

/** @module-tag stress */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { python } from "../machine.ts";
import { copyForAll, type ForAll } from "../ordinary-user.ts";
import { skipInTierC } from "../../tier.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";

const MIB = 2 ** 20;
const isRoot = process.getuid?.() === 0;
const fixture = join(import.meta.dirname, "../../fixtures/user-host.mjs");
const HIDDEN_IN_FLIGHT = "a socket in flight that has others in flight";
const OVER = { status: "interrupted", reason: "memory" };

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
/** `watch`: each instance watches 40 files, each by 300 numbers. */
const SETUP = `${prelude}
import select, shutil, threading
def watch(instances):
    readers = [os.pipe()[0] for _ in range(40)]
    epolls = [select.epoll() for _ in range(instances)]
    for reader in readers:
        for key in range(200, 500): os.dup2(reader, key)
        for epoll in epolls:
            for key in range(200, 500): epoll.register(key)
        os.closerange(200, 500)
    return epolls, readers
def in_child(work):
    if os.fork() == 0:
        try: kept = work(); time.sleep(60)
        finally: os._exit(0)
def deepen(levels):
    for _ in range(levels):
        os.mkdir("\\n" * 255)
        os.chdir("\\n" * 255)
def fly(descriptors):
    pair = socket.socketpair()
    socket.send_fds(pair[0], [b"x"], descriptors)
    return pair
`;

describe("a session is ended for", () => {
  let stage: OpenStage;
  beforeAll(async () => {
    stage = await openStage({ poolSize: 0 });
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test.for([
    ["epoll watches", `kept = watch(6)`],
    ["epoll watches of many processes", `for _ in range(6): in_child(lambda: watch(1))`],
    [
      "epoll watches of a process that hides its descriptors, and whose first thread has ended",
      `def leave():
    SC(NR(157,167), 4, 0, 0, 0, 0)
    threading.Thread(target=lambda: [watch(6), time.sleep(60)]).start()
    SC(NR(60,93), 0)
in_child(leave)`,
    ],
    ["epoll instances in flight", `kept = [fly([epoll.fileno()]) for epoll in watch(5)[0]]`],
    [HIDDEN_IN_FLIGHT, `inner = fly([0] * 100); kept = inner[0], fly([inner[1].fileno()]); inner[1].close()`],
    ["descriptors in flight to the init", `door = socket.socket(fileno=DOOR); socket.send_fds(door, [b"x"], [0] * 5)`],
    [
      "record locks",
      `kept = [open("lock%d" % n, "w") for n in range(20)]
for file in kept:
    for at in range(900): fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * at)`,
    ],
    [
      "a program that cannot be read, and so hides its descriptors",
      `shutil.copy(shutil.which("sleep"), "hidden"); os.chmod("hidden", 0o111); subprocess.Popen(["./hidden", "60"])`,
    ],
  ] as const)("%s", async ([what, attack], context) => {
    if (what === HIDDEN_IN_FLIGHT) skipInTierC(context, "the list of sockets has those of every session");
    await using session = await stage.runtime.openSession();
    (await session.execute(SETUP).result).unwrap();
    expect(await session.execute(`${attack}\ntime.sleep(60)`).result).toMatchObject({ ...OVER, state: "lost" });
    expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
    expect((await stage.sibling.execute("mark").result).value).toEqual({ "text/plain": "'untouched'" });
  });

  test("a task is ended for its own, and its session goes on", async () => {
    await using session = await stage.runtime.openSession();
    await session.execute("x = 1").result;
    await session.files.write("attack.py", `${SETUP.slice(prelude.length)}\nkept = watch(6)\ntime.sleep(60)`);
    const command = `python3 -c 'import os, select, shutil, socket, time; exec(open("attack.py").read())'`;
    expect(await stage.runtime.shell(command, { session }).result).toMatchObject({
      status: "failed",
      why: expect.stringContaining("more memory was used") as string,
    });
    expect((await session.execute("x").result).value).toEqual({ "text/plain": "1" });
  });

  test("not for descriptors that the init sends to a worker that is busy", async () => {
    await using session = await stage.runtime.openSession();
    (await session.execute(SETUP).result).unwrap();
    const task = stage.runtime.shell("sleep 60", { session }); // so that the init looks
    // The interpreter is not free to read its control socket for a while.
    await session.execute(`x = 1
def hold(): open("held", "w").close(); ctypes.PyDLL(None).usleep(4_000_000)
threading.Timer(0.1, hold).start()`).result;
    await expect.poll(async () => (await session.files.list()).entries.some(({ path }) => path === "held")).toBe(true);
    const fork = await session.fork();
    expect((await fork.execute("x").result).value).toEqual({ "text/plain": "1" });
    expect((await session.execute("x").result).value).toEqual({ "text/plain": "1" });
    await fork.close();
    await task.cancel();
  });

  test("not for what programs ordinarily have", async () => {
    await using session = await stage.runtime.openSession();
    (await session.execute(SETUP).result).unwrap();
    const code = `epoll = select.epoll()
pipes = [os.pipe() for _ in range(150)]
for reader, _ in pipes: epoll.register(reader)
children = [subprocess.Popen(["sleep", "60"]) for _ in range(20)]
kept = [fly([0, 1])], [socket.socketpair() for _ in range(20)], [open("file%d" % n, "w") for n in range(50)]
for file in kept[2]: fcntl.lockf(file, fcntl.LOCK_EX)
for _ in range(10):
    if os.fork() == 0: os._exit(0) # nobody waits for them
until = time.monotonic() + 4
while time.monotonic() < until: sum(range(10_000))
"done"`;
    expect(await session.execute(code).result).toMatchObject({ status: "ok", value: { "text/plain": "'done'" } });
  });

  test("not for an open file whose path is too long to be told", async () => {
    await using session = await stage.runtime.openSession();
    (await session.execute(SETUP).result).unwrap();
    const code = `deepen(20)
kept = open("file", "w")
until = time.monotonic() + 2
while time.monotonic() < until: sum(range(10_000))
"done"`;
    expect(await session.execute(code).result).toMatchObject({ status: "ok", value: { "text/plain": "'done'" } });
  });
});

describe.skipIf(!isRoot)("for an ordinary user without subordinate ids", () => {
  let place: ForAll;
  beforeAll(async () => {
    place = await copyForAll();
  });
  afterAll(() => place?.remove());

  /** How each piece of code in one session ended, and the exit code of the host. */
  function run(...codes: string[]): Promise<{ values: unknown[]; code: unknown }> {
    return runWithin(256 * MIB, ...codes);
  }

  async function runWithin(memoryBytes: number, ...codes: string[]): Promise<{ values: unknown[]; code: unknown }> {
    const args = [place.node, place.add(fixture), join(place.folder, "dist"), "run"];
    const env = { PATH: process.env["PATH"] ?? "", HOME: place.folder, RLM_DATA: place.data, TEST_PYTHON: python };
    const user = { uid: 64123, gid: 64123 };
    const host = spawn("env", args, { env, cwd: place.folder, stdio: ["pipe", "pipe", "inherit"], ...user });
    host.stdin.end(JSON.stringify({ limits: { memoryBytes, diskBytes: 64 * MIB }, codes }));
    const [output, [code]] = await Promise.all([text(host.stdout), once(host, "exit")]);
    return { values: JSON.parse(output) as unknown[], code };
  }

  test("a session that takes epoll watches is ended, and the host's own epoll works on", async () => {
    const attack = `for _ in range(20): in_child(lambda: watch(3))\ntime.sleep(60)`;
    expect(await run(SETUP, attack, "1+1")).toEqual({ values: [null, expect.objectContaining(OVER), "2"], code: 0 });
  });

  test("the buffers of sockets count for the memory limit, as if they were full", async () => {
    const attack = `for _ in range(8): in_child(lambda: [socket.socketpair() for _ in range(120)])\ntime.sleep(60)`;
    expect(await run(SETUP, attack, "1+1")).toEqual({ values: [null, expect.objectContaining(OVER), "2"], code: 0 });
  });

  test("the buffers of files in /proc, which keep a long line as long as they are open, count for it, too", async () => {
    const attack = `deepen(3000)
file = os.open("file", os.O_RDWR | os.O_CREAT)
os.write(file, b"x")
_libc.mmap(None, 4096, 1, 2, file, 0)
os.close(file)
os.chdir("/")
kept = []
while len(kept) < 400:
    kept.append(os.open("/proc/self/maps", os.O_RDONLY))
    while b"\\\\012" not in os.read(kept[-1], 1 << 16): pass # the path, whose line breaks are escaped
time.sleep(60)`;
    expect(await run(SETUP, attack, "1+1")).toEqual({ values: [null, expect.objectContaining(OVER), "2"], code: 0 });
  });

  test("what the kernel keeps for mappings of processes that descend from each other counts for it, too", async () => {
    const attack = `_libc.mmap.restype = ctypes.c_void_p
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
at = _libc.mmap(None, 8192 * 3000, 3, 0x22, -1, 0)
for start in range(at, at + 8192 * 3000, 8192):
    ctypes.memset(start, 1, 1)
    _libc.mprotect(start + 4096, 4096, 1)
for _ in range(36):
    if os.fork(): break
time.sleep(60)`;
    expect(await runWithin(96 * MIB, SETUP, attack, "1+1")).toEqual({
      values: [null, expect.objectContaining(OVER), "2"],
      code: 0,
    });
  });
});
