// Memory, processes and disk: limits hold for a session as a whole, whatever it reports about itself.

import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { valueOf } from "../../open.ts";
import { comesTrue, descendantsOf, proportionalBytes } from "../machine.ts";
import { THREAD_AND_FORK_BOMB, toProbe } from "../probe.ts";
import { hold, openStage, readCorpus, type OpenStage } from "../stage.ts";
import { skipInTierC } from "../../tier.ts";

const MIB = 2 ** 20;
const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const LIMITS = { memoryBytes: 256 * MIB };

// Each child stays below the per-process limit; together they are far above the session's.
const GREEDY = `def greedy():
    for _ in range(12):
        if os.fork() == 0:
            b = bytearray(64 << 20)
            for j in range(0, len(b), 4096): b[j] = 1
            time.sleep(60)
            os._exit(0)
`;

const MOST_PROCESSES = 130;
let stage: OpenStage;

beforeAll(async () => {
  stage = await openStage({ poolSize: 0 });
});

afterAll(() => stage?.[Symbol.asyncDispose]());

describe("memory", () => {
  test("the sum over all children is stopped by the watch", async () => {
    await using session = await open();
    const result = await session.execute(`${GREEDY}greedy(); time.sleep(20)`).result;
    expect(result).toMatchObject({ status: "interrupted", reason: "memory", state: "lost", epoch: 2 });
    await expectRecovery(session);
  });

  test("anonymous shared memory counts, though no limit of a process does", async () => {
    await using session = await open();
    const code = `import mmap\nm = [mmap.mmap(-1, 32 << 20) for _ in range(20)]
for x in m:
    for j in range(0, 32 << 20, 4096): x[j] = 1
time.sleep(20)`;
    expect(await session.execute(code).result).toMatchObject({ reason: "memory", state: "lost" });
    await expectRecovery(session);
  });

  test("a session that says it is done, and goes on, is watched all the same", async () => {
    await using session = await open();
    const lost = new Promise((resolve) => session.subscribe(({ type }) => type === "session-reset" && resolve(type)));
    const lie = `line({"type": "status", "id": "${session.id}.2", "status": "ok"})`;
    const result = await session.execute(`${GREEDY}${lie}; time.sleep(0.2); greedy(); time.sleep(20)`).result;
    expect(result.status).toBe("ok");
    await lost;
    expect(proportionalBytes(descendantsOf(process.pid)) / MIB).toBeLessThan(600);
    await expectRecovery(session);
  });

  test("a thread that wakes up when nothing runs is watched too", async () => {
    await using session = await open();
    const lost = new Promise((resolve) => session.subscribe(({ type }) => type === "session-reset" && resolve(type)));
    await session.execute(`${GREEDY}import threading; threading.Timer(0.3, greedy).start()`).result;
    await lost;
    await expectRecovery(session);
  });

  test("a file that many processes map counts once", async () => {
    await using session = await open();
    const code = `import mmap
f = open("big", "wb+"); f.truncate(60 << 20)
m = mmap.mmap(f.fileno(), 60 << 20)
for j in range(0, 60 << 20, 4096): m[j] = 1
for _ in range(8):
    if os.fork() == 0:
        sum(m[j] for j in range(0, 60 << 20, 4096)); time.sleep(1); os._exit(0)
time.sleep(0.9)
"alive"`;
    expect(await session.execute(code).result).toMatchObject({ value: { "text/plain": "'alive'" }, state: "kept" });
  });
});

describe("processes", () => {
  test("programs started without end", () =>
    hold(
      toProbe(
        "posix_spawn bomb",
        `n = 0
try:
    while n < 5000: os.posix_spawn("/bin/sleep", ["sleep", "60"], {}); n += 1
except OSError: pass
n`,
        { check: { value_int_max: MOST_PROCESSES } },
      ),
      prelude,
      stage,
    ));

  test("threads and forks together", () =>
    hold(
      toProbe("thread and fork bomb", THREAD_AND_FORK_BOMB, {
        check: { value_int_max: MOST_PROCESSES, max_ms: 10_000 },
      }),
      prelude,
      stage,
    ));

  test(
    "a bomb that goes off again and again ends with its time limit, and with it every process",
    { tags: "stress" },
    async () => {
      await using session = await stage.runtime.openSession();
      const before = descendantsOf(process.pid).length;
      const code = `import os
while True:
    try: os.fork()
    except OSError: pass`;
      const result = await session.execute(code, { timeoutMs: 1000 }).result;
      expect(result).toMatchObject({ status: "interrupted", reason: "timeout" });
      if (result.state === "lost") await expectRecovery(session);
      const { value } = await stage.sibling.execute("mark").result;
      expect(value).toEqual({ "text/plain": "'untouched'" });
      await session.close();
      expect(await comesTrue(() => descendantsOf(process.pid).length <= before)).toBe(true);
    },
  );
});

test("in a folder mounted for writing one file is limited, and nothing else", async () => {
  const folder = join(stage.canaries.scratch, "open", "rw");
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  const mounts = [{ path: folder, mode: "rw" as const }];
  await using session = await stage.runtime.openSession({ mounts, limits: { diskBytes: 4 * MIB } });
  const write = `import os
def write(name, size):
    try:
        with open(${JSON.stringify(folder)} + name, "wb") as file: return file.truncate(size) if size > 4 << 20 else file.write(bytes(size))
    except OSError as error: return error.strerror`;
  await session.execute(write).result;
  expect(await valueOf(session, `[write("/" + str(n), 3 << 20) >> 20 for n in range(3)]`)).toBe("[3, 3, 3]");
  expect(await valueOf(session, `write("/large", (4 << 20) + 1)`)).toBe("'File too large'");
});

test("one quota for the working folder, /tmp and shared memory", async (context) => {
  skipInTierC(context, "nothing limits the space of a session");
  await using session = await open();
  const code = `total = 0
for folder in (".", "/tmp", "/dev/shm"):
    try:
        with open(folder + "/fill", "wb", 0) as f:
            while True: total += f.write(bytes(1 << 20))
    except OSError as e: print(e.errno)
total >> 20`;
  const { value, stdout } = await session.execute(code).result;
  expect(stdout).toMatch(/^(2[78]\n){3}$/); // the file is too large, or the quota is used up
  expect(Number(value?.["text/plain"])).toBeLessThanOrEqual(128);
});

async function open(): Promise<Session> {
  const session = await stage.runtime.openSession({ limits: LIMITS });
  (await session.execute(prelude).result).unwrap();
  return session;
}

async function expectRecovery(session: Session): Promise<void> {
  expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
  expect((await stage.sibling.execute("mark").result).value).toEqual({ "text/plain": "'untouched'" });
}
