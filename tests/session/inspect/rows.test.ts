// Parts of tables. What they look like is tested in tests/worker/inspection/test_rows.py.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime, openWith } from "../../open.ts";

let runtime: Runtime;
let session: Session;
beforeAll(async () => {
  runtime = await openTestRuntime();
  session = await openWith(runtime, "import time\nx = [3, 1, 2]");
});
afterAll(() => runtime.close());

test("rows are found while code runs, and the session is not changed", async () => {
  const running = session.execute("x.append(4)\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)");
  for await (const { type } of running) if (type === "output-delta") break;
  expect(await session.rows("x", { start: 1, count: 2, sortBy: 0 })).toEqual({
    columns: [{ name: "value", dtype: "object" }],
    index: ["2", "0"],
    rows: [["2"], ["3"]],
    start: 1,
    columnStart: 0,
    total: 4,
    totalColumns: 1,
    incomplete: null,
  });
  running.cancel();
  await running.result;
  expect((await session.execute("x").result).value?.["text/plain"]).toBe("[3, 1, 2, 4]");
});

test("a value that does not answer in time has no rows, and says why", async () => {
  await session.execute("class Slow(list):\n    def __len__(self): time.sleep(600)\nslow = Slow([1])").result;
  expect(await session.rows("slow", { timeoutMs: 100 })).toMatchObject({
    rows: [],
    total: null,
    incomplete: "timeout",
  });
});

test("a value that lies about its size is refused or cut, never trusted", async () => {
  await session.execute(
    "class Wide(list):\n    def __len__(self): return 10**9\n" +
      "class Frame:\n    iloc = None\n    to_frame = lambda self: 1\nFrame.__module__ = 'pandas.core'\nwide, frame = Wide([1]), Frame()",
  ).result;
  expect(await session.rows("wide", { start: 5 })).toMatchObject({
    rows: [],
    total: 10 ** 9,
    error: expect.stringContaining("IndexError"),
  });
  expect(await session.rows("frame")).toMatchObject({ rows: [], error: expect.stringContaining("no rows") });
});

test("an answer that code of the value forged, with other columns than it has, is refused", async () => {
  await session.execute(
    "class Forger(list):\n    def __getitem__(self, at):\n        import os\n" +
      '        for fd in range(3, 4096):\n            try: os.write(fd, b\'{"rows": [["a", "b"]], "index": ["0"]}\\n\\n\')\n            except OSError: pass\n        os._exit(0)\n' +
      "forged = Forger([1])",
  ).result;
  await expect(session.rows("forged")).rejects.toMatchObject({ code: "INSPECTION_FAILED" });
});
