// Disk quota, file names and file counts at their limits, and attacks on the processes that move files.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FileError, WorkerLostError } from "../../internals.ts";
import { begin, valueOf } from "../../open.ts";
import { skipInTierC } from "../../tier.ts";
import { failureOf, openStage, type OpenStage } from "../stage.ts";

const MIB = 2 ** 20;

let stage: OpenStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

describe("limits", () => {
  test("a full disk is reported, existing files stay, and removing frees space", async (context) => {
    skipInTierC(context, "nothing limits the space and the number of files of a session");
    await using session = await stage.runtime.openSession({ limits: { diskBytes: 16 * MIB } });
    await session.files.write("kept", "old");
    await valueOf(session, "f = open('fill', 'wb')\ntry:\n  while True: f.write(bytes(65536))\nexcept OSError: pass");
    expect(await failureOf(session.files.write("kept", Buffer.alloc(MIB)))).toMatchObject({ reason: "no-space" });
    expect((await session.files.read("kept")).toString()).toBe("old");
    expect((await session.files.list()).entries.map(({ name }) => name)).toEqual(["fill", "kept"]);
    await session.files.remove("fill");
    await valueOf(session, "\ntry: f.close()\nexcept OSError: pass");
    expect((await session.files.write("kept", Buffer.alloc(MIB))).size).toBe(MIB);
  });

  test("an upload larger than the disk ends with no-space, long before its source does", async () => {
    await using session = await stage.runtime.openSession({ limits: { diskBytes: 16 * MIB } });
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; sent < 1024; sent += 1) yield new Uint8Array(MIB);
    }
    expect(await failureOf(session.files.write("big", endless()))).toMatchObject({
      reason: expect.stringMatching(/no-space|too-large/),
    });
    expect(sent).toBeLessThan(64);
    expect((await session.files.list()).entries).toEqual([]);
  });

  test(
    "70,000 files: as many as there may be are made, listed in part, and removed",
    { tags: "stress" },
    async (context) => {
      skipInTierC(context, "nothing limits the space and the number of files of a session");
      await using session = await stage.runtime.openSession();
      const made = Number(
        await valueOf(
          session,
          "import os; os.mkdir('many'); n = 0\ntry:\n  for n in range(70_000): os.close(os.open(f'many/{n}', os.O_CREAT))\nexcept OSError: pass\nn",
        ),
      );
      expect(made).toBeGreaterThan(60_000);
      expect(made).toBeLessThan(65_536);
      expect(await failureOf(session.files.write("one-more", "x"))).toMatchObject({ reason: "no-space" });
      const { entries, omitted } = await session.files.list("many");
      expect(entries.length + omitted).toBe(made);
      expect(entries.length).toBe(10_000);
      await session.files.remove("many");
      expect((await session.files.list()).entries).toEqual([]);
    },
  );

  test("names of every length and byte come back as they are", async () => {
    await using session = await stage.runtime.openSession();
    const count = await valueOf(
      session,
      `import os; os.mkdir('d')
names = [bytes([b]) * 255 for b in range(1, 256) if b != 47 and b != 46] + [b'\\n', b' ', b'\\x1b[2J', b'"', b'..a']
for n in names: open(b'd/' + n, 'wb').write(n)
len(names)`,
    );
    const { entries } = await session.files.list("d");
    expect(entries.length).toBe(Number(count));
    for (const { path, size } of entries) expect((await session.files.read(path)).length).toBe(size);
    await session.files.remove("d");
    expect(await valueOf(session, "os.listdir()")).toBe("[]");
  });

  test("a folder that is filled while it is removed is removed, or the reason is reported", async () => {
    await using session = await stage.runtime.openSession();
    const code = `import os, itertools
os.makedirs('d', exist_ok=True); print('up', flush=True)
for i in itertools.count():
    try: os.makedirs(f'd/{i % 50}/x', exist_ok=True); open(f'd/{i % 50}/x/f', 'w').close()
    except OSError: pass`;
    const running = await begin(session, code);
    for (let round = 0; round < 20; round += 1) {
      const outcome = await failureOf(session.files.remove("d"));
      if (outcome !== "it worked") expect(outcome).toBeInstanceOf(FileError);
    }
    session.interrupt();
    await running.result;
  });
});

// One of these waits for a limit, so they run concurrently.
describe.concurrent("the processes that do it", () => {
  /** Code that inspects every process but the init and itself while a watch is open. */
  const OTHERS =
    "import os, signal\njobs = [int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]\n";

  test("cannot be looked into, and their pipes cannot be opened", async (context) => {
    skipInTierC(context, "the processes of other sessions are in the same /proc");
    await using session = await stage.runtime.openSession();
    await using _ = await session.files.watch();
    const code = `${OTHERS}
def attempt(path):
    try:
        with open(path, 'rb') as f: return f.read(16)
    except OSError as e: return type(e).__name__
def listing(path):
    try: return os.listdir(path)
    except OSError as e: return type(e).__name__
def pipe(pid):
    try: return os.open(f'/proc/{pid}/fd/3', os.O_RDWR | os.O_NONBLOCK)
    except OSError as e: return type(e).__name__
[(listing(f'/proc/{p}/fd'), attempt(f'/proc/{p}/mem'), attempt(f'/proc/{p}/environ'), pipe(p), listing(f'/proc/{p}/root')) for p in jobs]`;
    const no = "'PermissionError'";
    expect(await valueOf(session, code)).toBe(`[(${Array.from({ length: 5 }, () => no).join(", ")})]`);
  });

  test("one that is stopped is given up, and the session goes on", { tags: "stress" }, async (context) => {
    skipInTierC(context, "no process can signal all others");
    await using session = await stage.runtime.openSession();
    await session.files.write("f", "1");
    const running = await begin(
      session,
      "import os, signal, time\nprint('up', flush=True)\nwhile True:\n  try: os.kill(-1, signal.SIGSTOP)\n  except OSError: pass\n  time.sleep(0.0005)",
    );
    const controller = new AbortController();
    const aborted = session.files.read("f", { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    // A read that beats the signal succeeds; the next one fails after ten seconds of silence.
    while (!((await failureOf(session.files.read("f"))) instanceof WorkerLostError));
    session.interrupt();
    await running.result;
    expect((await session.files.read("f")).toString()).toBe("1");
  });

  test("work when the session has used up its processes and its open files", async () => {
    await using session = await stage.runtime.openSession({ limits: { processes: 16, openFiles: 256 } });
    const code = `import os, time
files = []
try:
    while True: files.append(open('/dev/null'))
except OSError: files.pop().close()
try:
    while True:
        if os.fork() == 0: time.sleep(1000)
except OSError: pass`;
    await valueOf(session, code);
    await session.files.write("f", "1");
    expect((await session.files.read("f")).toString()).toBe("1");
  });

  test("are gone when nobody needs them, however many there were", async (context) => {
    skipInTierC(context, "the processes of other sessions are in the same /proc");
    await using session = await stage.runtime.openSession();
    await session.files.write("f", Buffer.alloc(MIB));
    const controller = new AbortController();
    const abandoned = Array.from({ length: 200 }, () =>
      failureOf(session.files.read("f", { signal: controller.signal })),
    );
    controller.abort();
    await Promise.all(abandoned);
    for await (const _ of session.files.readStream("f")) break;
    await (await session.files.watch()).close();
    const code = `import time
def jobs(): return [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]
deadline = time.monotonic() + 20
while jobs() and time.monotonic() < deadline: time.sleep(0.01)
jobs()`;
    expect(await valueOf(session, `import os\n${code}`)).toBe("[]");
  });
});
