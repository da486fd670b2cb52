// Shared memory without a name: pages that no process shows. The kernel counts them where there is a memory cgroup. Elsewhere there
// are none, and Python's `mmap` uses a file.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { python } from "../machine.ts";
import { copyForAll, type ForAll } from "../ordinary-user.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";
import { skipInTierC, TIER } from "../../tier.ts";

const MIB = 2 ** 20;
const LIMITS = { memoryBytes: 256 * MIB, diskBytes: 64 * MIB };
const isRoot = process.getuid?.() === 0;
const fixture = join(import.meta.dirname, "../../fixtures/user-host.mjs");

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const SETUP = `${prelude}
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
SIZE = 32 << 20
def map_shared(fd=-1, size=SIZE):
    at = _libc.mmap(None, size, 3, 0x21 if fd == -1 else 1, fd, 0)
    if at == ctypes.c_void_p(-1).value:
        e = ctypes.get_errno(); raise OSError(e, os.strerror(e))
    return at
def fill(at, size=SIZE):
    for page in range(0, size, 4096): ctypes.memset(at + page, 1, 1)
def hide_by_advice(at): _libc.madvise(at, SIZE, 4)
def hide_by_unmapping(at): _libc.munmap(at + 4096, SIZE - 4096)
def attack(hide):
    for _ in range(40):
        at = map_shared(); fill(at); hide(at)
`;

describe("where there is a memory cgroup", async () => {
  const stage: OpenStage = await openStage({ poolSize: 0 });
  afterAll(() => stage[Symbol.asyncDispose]());
  // The filter of tier C denies such memory.
  const hasCgroup = stage.runtime.report().cgroup !== null && TIER !== "C";

  test.skipIf(!hasCgroup).each(["hide_by_advice", "hide_by_unmapping"])(
    "more than the limit, hidden from every count over processes (%s), ends the worker",
    async (hide) => {
      await using session = await stage.runtime.openSession({ limits: LIMITS });
      (await session.execute(SETUP).result).unwrap();
      const result = await session.execute(`attack(${hide})`).result;
      expect(result).toMatchObject({ status: "interrupted", reason: "memory", state: "lost" });
      expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
    },
  );

  test("/dev/zero cannot be mapped shared", async () => {
    await using session = await stage.runtime.openSession();
    (await session.execute(SETUP).result).unwrap();
    const { value } = await session.execute(`[T(lambda: os.open("/dev/zero", os.O_RDWR)),
 T(lambda: map_shared(os.open("/dev/zero", os.O_RDONLY))), len(open("/dev/zero", "rb").read(9))]`).result;
    expect(value?.["text/plain"]).toMatch(/^\[.DENIED:PermissionError.*, .DENIED:PermissionError.*, 9\]$/);
  });
});

describe.skipIf(!isRoot)("where there is none, as for an ordinary user", () => {
  let place: ForAll;
  beforeAll(async () => {
    place = await copyForAll();
  });
  afterAll(() => place?.remove());

  /** The value of each piece of code, which run one after the other in one session, or how it ended. */
  async function run(...codes: string[]): Promise<unknown[]> {
    const args = [place.node, place.add(fixture), join(place.folder, "dist"), "run"];
    const own = { HOME: place.folder, RLM_DATA: place.data, TEST_PYTHON: python };
    const env = { PATH: process.env["PATH"] ?? "", RLM_SANDBOX_TIER: process.env["RLM_SANDBOX_TIER"] ?? "", ...own };
    const user = { uid: 64123, gid: 64123 };
    const host = spawn("env", args, { env, cwd: place.folder, stdio: ["pipe", "pipe", "inherit"], ...user });
    host.stdin.end(JSON.stringify({ limits: LIMITS, codes }));
    const [output] = await Promise.all([text(host.stdout), once(host, "exit")]);
    return JSON.parse(output) as unknown[];
  }

  test("the kernel denies it", async () => {
    expect(await run(SETUP, `T(map_shared)`, `T(lambda: map_shared(os.open("/dev/zero", os.O_RDWR)))`)).toEqual([
      null,
      expect.stringMatching(/DENIED:PermissionError/) as string,
      expect.stringMatching(/DENIED:PermissionError/) as string,
    ]);
  });

  test("mmap.mmap(-1, length) works in every form, and counts for the quota of files", async () => {
    const forms = `
import mmap
class Own(mmap.mmap):
    def first(self): return self[0]
made = [mmap.mmap(-1, 8192), mmap.mmap(-1, 8192, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE),
        mmap.mmap(fileno=-1, length=8192, access=mmap.ACCESS_WRITE), mmap.mmap(-1, 8192, offset=4096),
        mmap.mmap(-1, 8192, flags=mmap.MAP_PRIVATE), mmap.mmap(-1, 8192, access=mmap.ACCESS_COPY), Own(-1, 8192)]
for m in made: m[0] = 7; m[8191] = 8
made[0].resize(16384)
[all(type(m) in (mmap.mmap, Own) and isinstance(m, mmap.mmap) for m in made), {(m[0], m[8191]) for m in made}, made[-1].first(),
 [len(m) for m in made], len(mmap.mmap(-1, 10, access=mmap.ACCESS_READ)), mmap.mmap.__module__, mmap.mmap.__name__]`;
    const errors = `
def error(f):
    try: f()
    except Exception as e: return type(e).__name__ + ":" + str(getattr(e, "errno", ""))
[error(lambda: mmap.mmap(-1, 0)), error(lambda: mmap.mmap(-1, -1)), error(lambda: mmap.mmap(999, 10)), error(lambda: mmap.mmap(-1, 65 << 20))]`;
    const shared = `
m = mmap.mmap(-1, 4096)
pid = os.fork()
if pid == 0: m[0] = 42; os._exit(0)
os.waitpid(pid, 0); m[0]`;
    const quota = `
def room(): return os.statvfs("/dev/shm").f_bavail * 4096 >> 20
before = room(); big = mmap.mmap(-1, 48 << 20)
for page in range(0, 48 << 20, 4096): big[page] = 1
big.madvise(mmap.MADV_DONTNEED)
taken = before - room(); too_much = error(lambda: mmap.mmap(-1, 20 << 20)); big.close()
[taken, too_much, before - room(), big.closed]`;
    const result = await run(SETUP, forms, errors, shared, quota);
    expect(result.slice(1)).toEqual([
      "[True, {(7, 8)}, 7, [16384, 8192, 8192, 8192, 8192, 8192, 8192], 10, 'mmap', 'mmap']",
      "['OSError:22', 'OverflowError:', 'OSError:9', 'OSError:12']",
      "42",
      TIER === "C" ? "[0, None, 0, True]" : "[48, 'OSError:12', 0, True]", // there is no quota there
    ]);
  });

  test("a file in /dev/shm counts for the quota, however its pages are hidden", async (context) => {
    skipInTierC(context, "nothing limits the space of a session");
    const code = `fd = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR)
os.ftruncate(fd, SIZE); before = os.statvfs("/dev/shm").f_bavail
for hide in (hide_by_advice, hide_by_unmapping):
    at = map_shared(fd); fill(at); hide(at)
os.close(fd)
before - os.statvfs("/dev/shm").f_bavail == SIZE // 4096`;
    expect((await run(SETUP, code))[1]).toBe("True");
  });

  test("multiprocessing shares its values as ever", async () => {
    const code = `import multiprocessing, multiprocessing.shared_memory
context = multiprocessing.get_context("fork")
value, array = context.Value("i", 1), context.Array("d", 4)
block = multiprocessing.shared_memory.SharedMemory(create=True, size=100)
def work(): value.value = 5; array[3] = 2.5; block.buf[0] = 9
process = context.Process(target=work); process.start(); process.join()
[value.value, array[3], block.buf[0], block.unlink()]`;
    expect((await run(SETUP, code))[1]).toBe("[5, 2.5, 9, None]");
  });
});
