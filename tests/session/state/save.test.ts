// Session files: what is restored, and the reasons for what is not.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime, PYTHON } from "../../open.ts";

const MIB = 2 ** 20;
const folder = mkdtempSync(join(tmpdir(), "rlm-save-"));
let runtime: Runtime;
let made = 0;

beforeAll(async () => {
  runtime = await openTestRuntime({ limits: { memoryBytes: 1024 * MIB } });
});

afterAll(async () => {
  await runtime?.close();
  rmSync(folder, { recursive: true });
});

async function run(session: Session, code: string): Promise<string | undefined> {
  const result = await session.execute(code).result;
  if (result.error !== undefined) expect.fail(result.error.traceback);
  return result.value?.["text/plain"];
}

function newPath(): string {
  made += 1;
  return join(folder, `${made}.rlm`);
}

async function openWith(code: string): Promise<Session> {
  const session = await runtime.openSession({ includeStdlib: false });
  await run(session, code);
  return session;
}

/** A session that was saved after this code, and loaded. */
async function reopened(code: string): Promise<Session> {
  await using session = await openWith(code);
  const path = newPath();
  await session.save(path);
  return await runtime.loadSession(path, { includeStdlib: false });
}

function hasPackage(name: string): boolean {
  try {
    execFileSync(PYTHON, ["-c", `import ${name}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("save() and loadSession()", () => {
  test("restore functions, classes, closures, modules and data, and report the names", async () => {
    await using session = await openWith(`
import math, dataclasses
def area(r): return math.pi * r ** 2
@dataclasses.dataclass
class Circle:
    r: float
    def area(self): return area(self.r)
circle = Circle(2)
shapes = [circle, circle]
def counter():
    n = 0
    def add():
        nonlocal n
        n += 1
        return n
    return add
count = counter(); count()
square = lambda x: x * x
reader = open("/dev/null")
numbers = (n for n in range(3))`);
    const path = join(folder, "deep", "er", "first.rlm");
    const report = await session.save(path);
    const names = "math dataclasses area Circle circle shapes counter count square".split(" ");
    expect(report).toEqual({
      path,
      sizeBytes: statSync(path).size,
      names,
      skipped: [
        { name: "reader", why: expect.stringContaining("TextIOWrapper") },
        { name: "numbers", why: "cannot pickle 'generator' object" },
      ],
      digest: createHash("sha256").update(readFileSync(path).subarray(0, -32)).digest("hex"),
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);

    await using other = await runtime.loadSession(path, { id: "restored", includeStdlib: false });
    expect(other.id).toBe("restored");
    expect(other.loaded).toEqual({ names, count: names.length, skipped: [] });
    expect(await run(other, "circle.area() == area(2), shapes[0] is shapes[1] is circle, count(), square(3)")).toBe(
      "(True, True, 2, 9)",
    );
    expect(await run(session, "count()"), "the saved session goes on by itself").toBe("2");
    expect(session.loaded).toBeNull();
  });

  test("a loaded session can be saved and loaded again", async () => {
    await using first = await reopened("def f(n): return n and f(n - 1)\nclass A:\n    me = None\nA.me = A()");
    const path = newPath();
    await first.save(path);
    await using second = await runtime.loadSession(path);
    expect(await run(second, "f(5), A.me.me is A.me, type(A.me) is A")).toBe("(0, True, True)");
  });

  test("tracebacks of loaded functions show their own lines", async () => {
    await using session = await reopened("def fail():\n    return 1 / 0  # here\n");
    const { error } = await session.execute("fail()\n").result;
    expect(error?.traceback).toContain('File "<loaded cell 1>", line 2, in fail\n    return 1 / 0  # here');
  });

  test("`from __future__` imports stay in force", async () => {
    await using session = await reopened("from __future__ import annotations");
    expect(await run(session, "def f(x: nothing.of.that.name): pass\nf.__annotations__['x']")).toBe(
      "'nothing.of.that.name'",
    );
  });

  test("save() onto a folder names it, and leaves nothing behind", async () => {
    await using session = await runtime.openSession();
    const target = join(folder, "a-folder");
    mkdirSync(target);
    await expect(session.save(target)).rejects.toThrow(
      `Cannot save to '${target}' in session '${session.id}': it is a folder. Name a file in it`,
    );
    expect(readdirSync(target)).toEqual([]);
    await expect(runtime.loadSession(join(folder, "absent"))).rejects.toThrow(
      `Cannot load '${join(folder, "absent")}': there is no such file`,
    );
  });

  test("save() runs in the order of the queue", async () => {
    await using session = await openWith("x = 0");
    const before = session.execute("import time; time.sleep(0.1); x = 1");
    const saved = session.save(newPath());
    const after = session.execute("x = 2");
    const { path } = await saved;
    await Promise.all([before.result, after.result]);
    await using other = await runtime.loadSession(path);
    expect(await run(other, "x")).toBe("1");
  });

  test("a missing module is listed with everything that needs it, and the rest is loaded", async () => {
    await using session = await openWith(`
import sys
open("mine.py", "w").write("class Thing: pass\\ndef help(): return 1\\nclass Base: pass\\n")
import mine
thing = mine.Thing()
both = [1, thing]
from mine import help
class Sub(mine.Base): pass
sub = Sub()
fine = {"a": 1}
`);
    const { path, skipped } = await session.save(newPath());
    expect(skipped).toEqual([]);
    await using other = await runtime.loadSession(path);
    expect(other.loaded?.names).toEqual(["sys", "fine"]);
    expect(other.loaded?.skipped.map(({ name }) => name).toSorted()).toEqual(
      ["mine", "thing", "both", "help", "Sub", "sub"].toSorted(),
    );
    for (const { why } of other.loaded?.skipped ?? []) expect(why).toContain("No module named 'mine'");
    expect(await run(other, "'mine' in globals(), fine")).toBe("(False, {'a': 1})");
  });

  test("an object whose code raises while it is restored is listed, and what it shares with others is kept", async () => {
    await using session = await openWith(`
class Picky:
    def __init__(self): self.data = shared
    def __setstate__(self, state):
        self.__dict__.update(state)
        raise ValueError("not today")
shared = [1, 2, 3]
picky = Picky()
holder = {"p": picky}
same = picky.data
`);
    const { path } = await session.save(newPath());
    await using other = await runtime.loadSession(path);
    expect(other.loaded?.skipped).toEqual([
      { name: "picky", why: "an object in it cannot be built: ValueError: not today" },
      { name: "holder", why: "an object in it cannot be built: ValueError: not today" },
    ]);
    expect(await run(other, "shared is same, shared, 'picky' in globals()")).toBe("(True, [1, 2, 3], False)");
  });

  test("user code that never ends while saving is stopped at the limit, and the old file stays", async () => {
    await using session = await openWith(
      "class Slow:\n    def __reduce__(self):\n        while True: pass\nx = 1\nslow = Slow()",
    );
    const path = newPath();
    writeFileSync(path, "old");
    await expect(session.save(path, { timeoutMs: 300 })).rejects.toThrow("it took longer than 300 ms");
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
    expect(await run(session, "x"), "the state is kept").toBe("1");
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 50);
    await expect(session.save(path, { signal: controller.signal })).rejects.toThrow("enough");
    await expect(runtime.loadSession(path)).rejects.toThrow("it is not a session file");
  });

  test("a path that cannot be written is an error, and the session goes on", async () => {
    await using session = await openWith("x = 1");
    writeFileSync(join(folder, "file"), "");
    mkdirSync(join(folder, "directory"));
    for (const path of [join(folder, "file", "below"), join(folder, "directory"), "/proc/nowhere/x"]) {
      await expect(session.save(path)).rejects.toMatchObject({ code: "SESSION_STATE", action: `save to '${path}'` });
    }
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
    expect(await run(session, "x")).toBe("1");
  });

  test("a missing file is an error, and no session is left", async () => {
    const before = runtime.sessions.list().length;
    await expect(runtime.loadSession(join(folder, "absent"))).rejects.toMatchObject({ code: "SESSION_STATE" });
    expect(runtime.sessions.list()).toHaveLength(before);
  });

  test("an id that is taken is refused", async () => {
    await using session = await openWith("x = 1");
    const { path } = await session.save(newPath());
    await expect(runtime.loadSession(path, { id: session.id })).rejects.toMatchObject({ code: "SESSION_EXISTS" });
  });

  test("saving replaces an existing file atomically", async () => {
    await using session = await openWith("x = 1");
    const path = newPath();
    await session.save(path);
    await run(session, "x = 2");
    await session.save(path);
    await using other = await runtime.loadSession(path);
    expect(await run(other, "x")).toBe("2");
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("a fork of a loaded session can be saved and rewound", async () => {
    await using session = await reopened("x = [1]\ndef f(): return x");
    await using fork = await session.fork();
    await run(fork, "x.append(2)");
    const { path } = await fork.save(newPath());
    const checkpoint = await fork.checkpoint();
    await fork.set("x", { json: "overwritten" });
    await fork.rewind(checkpoint);
    await using other = await runtime.loadSession(path);
    expect(await Promise.all([session, fork, other].map((each) => run(each, "f()")))).toEqual([
      "[1]",
      "[1, 2]",
      "[1, 2]",
    ]);
  });

  test("an empty session can be saved and loaded", async () => {
    await using session = await reopened("pass");
    expect(session.loaded).toEqual({ names: [], count: 0, skipped: [] });
  });
});

describe("large states", () => {
  const DIGEST = "digest = hashlib.sha256()\nfor row in rows: digest.update(row.encode())\ndigest.hexdigest()";

  test("saving a list of many strings does not copy it in the worker", { tags: "stress" }, async () => {
    await using session = await runtime.openSession({ limits: { memoryBytes: 400 * MIB } });
    await run(session, "rows = [str(n) * 100 for n in range(300_000)]\nimport hashlib");
    const digest = await run(session, DIGEST);
    const { path, sizeBytes } = await session.save(newPath());
    expect(sizeBytes).toBeGreaterThan(150 * MIB);
    await using other = await runtime.loadSession(path, { limits: { memoryBytes: 400 * MIB } });
    expect(await run(other, DIGEST)).toBe(digest);
    rmSync(path);
  });

  test("one string of 100 MB, and bytes of 100 MB", { tags: "stress" }, async () => {
    await using session = await reopened("text = 'é' * 50_000_000\ndata = bytes(100_000_000)");
    expect(await run(session, "len(text), text[-1], len(data)")).toBe("(50000000, 'é', 100000000)");
  });
});

describe.skipIf(!hasPackage("numpy"))(
  `numpy and pandas${hasPackage("numpy") ? "" : " (numpy is not installed)"}`,
  () => {
    test("an array of 100 MB comes back writable, views included", { tags: "stress" }, async () => {
      await using session = await reopened(`
import numpy as np
big = np.arange(12_500_000, dtype=np.float64)
view = big[10:20]
fortran = np.asfortranarray(np.ones((300, 300)))
odd = np.arange(100_000)[::3]
fixed = np.zeros(20_000); fixed.flags.writeable = False
rows = np.array([(1, "a")], dtype=[("n", "i4"), ("s", "U1")])
rng = np.random.default_rng(7); rng.random()
root = np.sqrt`);
      expect(await run(session, "big[-1], big.dtype, big.flags.writeable, odd.sum(), rows['s'][0], root(4.0)")).toBe(
        "(12499999.0, dtype('float64'), True, 1666683333, 'a', 2.0)",
      );
      expect(await run(session, "big[0] = 5; view[0], fortran.flags.f_contiguous, fixed.flags.writeable")).toBe(
        "(10.0, True, False)",
      );
      expect(
        await run(session, "other = np.random.default_rng(7); other.random(); rng.random() == other.random()"),
      ).toBe("True");
    });

    test.skipIf(!hasPackage("pandas"))("pandas frames keep their types and indexes", { tags: "stress" }, async () => {
      const code = `
import pandas as pd, numpy as np, datetime, decimal, pathlib
frame = pd.DataFrame({
    "i": np.arange(50_000), "f": np.arange(50_000) / 7, "s": ["x%d" % n for n in range(50_000)],
    "c": pd.Categorical(["a", "b"] * 25_000), "t": pd.date_range("2020", periods=50_000, freq="min", tz="Europe/Oslo"),
    "n": pd.array([1, None] * 25_000, dtype="Int64"),
}).set_index("i")
group = frame.groupby("c")
series = frame["f"]
day, price, path = datetime.date(2020, 2, 29), decimal.Decimal("1.10"), pathlib.Path("a/b")`;
      await using session = await reopened(code);
      await run(session, "loaded, was = frame.copy(), series.copy()");
      await run(session, code);
      expect(
        await run(
          session,
          "pd.testing.assert_frame_equal(loaded, frame); pd.testing.assert_series_equal(was, series)\n1",
        ),
      ).toBe("1");
      expect(await run(session, "loaded.loc[0, 'f'] = 3.5; loaded.dtypes.equals(frame.dtypes), day, price, path")).toBe(
        "(True, datetime.date(2020, 2, 29), Decimal('1.10'), PosixPath('a/b'))",
      );
    });
  },
);

test("a host that is killed while it saves leaves no file behind", async () => {
  const place = join(folder, "killed");
  mkdirSync(place);
  chmodSync(place, 0o700);
  const program = `
    import { openRuntime } from ${JSON.stringify(join(import.meta.dirname, "../../../dist/index.js"))};
    const runtime = await openRuntime({ python: ${JSON.stringify(PYTHON)}, preload: [], poolSize: 0 });
    const session = await runtime.openSession();
    const code = "class Slow:\\n    def __reduce__(self):\\n        import time\\n        time.sleep(60)\\nx = bytes(10_000_000)\\ny = Slow()";
    await session.execute(code);
    setTimeout(() => console.log("saving"), 500);
    await session.save(${JSON.stringify(join(place, "file.rlm"))});`;
  if (!existsSync(join(import.meta.dirname, "../../../dist/index.js"))) return;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
  expect(readdirSync(place)).toEqual([]);
});
