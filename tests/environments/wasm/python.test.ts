// What ordinary Python code meets in WebAssembly, in a tier and behind the seat belt. All tests of a mode share a session.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Result, Runtime, Session } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { hasPyodide, installWasm } from "./open-wasm.ts";

describe.skipIf(!hasPyodide)("Python in wasm in a tier", () => {
  describePython("in a tier");
});
describe.skipIf(!hasPyodide)("Python in wasm behind the seat belt", { tags: "stress" }, () => {
  describePython("behind the seat belt");
});

function describePython(where: "in a tier" | "behind the seat belt"): void {
  let runtime: Runtime;
  let session: Session;
  beforeAll(async () => {
    installWasm();
    if (where === "behind the seat belt") vi.stubEnv("RLM_SANDBOX_TIER", "seat-belt");
    runtime = await openTestRuntime({ environment: "wasm", poolSize: 0 });
    session = await runtime.openSession();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await runtime.close();
  });
  const run = async (code: string): Promise<Result> => session.execute(code).result;
  const errorOf = async (code: string): Promise<string> => {
    const result = await run(code);
    return result.status === "error" ? `${result.error.name}: ${result.error.value}` : result.status;
  };

  test("the version of Python is that of sessions, not of the machine", async () => {
    const { python } = runtime.report();
    expect(await valueOf(session, "import platform; platform.python_version()")).toBe(`'${python?.version}'`);
  });

  test("asyncio.run() runs a coroutine, again and again", async () => {
    const code = "import asyncio\n[asyncio.run(asyncio.sleep(0.001, i)) for i in range(3)]";
    expect(await valueOf(session, code)).toBe("[0, 1, 2]");
    expect(await valueOf(session, "await asyncio.sleep(0, 5)")).toBe("5");
  });

  test("deep recursion in C is a RecursionError, and the state stays", { tags: "stress" }, async () => {
    await run("import json, pickle\nx, y, kept = [], [], 7\nfor i in range(1_000_000): x, y = [x], [y]");
    expect(await errorOf("json.loads('[' * 1_000_000)")).toMatch(/^RecursionError/);
    expect(await errorOf("x == y")).toMatch(/^RecursionError/);
    expect(await errorOf("pickle.dumps(x)")).toMatch(/^RecursionError/);
    expect(await valueOf(session, "x = y = None; kept")).toBe("7");
  });

  test("recursion through C goes as deep as the limit of Python", async () => {
    const code =
      "depth = 0\nclass A:\n  def __eq__(self, other):\n    global depth; depth += 1\n    return [self] == [other]\nA() == A()";
    expect(await errorOf(code)).toBe("RecursionError: maximum recursion depth exceeded");
    expect(await valueOf(session, "depth > 900")).toBe("True");
  });

  test("environment variables are those of a session, and nothing names a path of the host", async () => {
    expect(await valueOf(session, "import os; sorted(os.environ)")).toBe(
      "['HOME', 'LANG', 'LOGNAME', 'TMPDIR', 'USER']",
    );
    expect(await valueOf(session, "import getpass; getpass.getuser() == os.environ['USER']")).toBe("True");
    expect(await valueOf(session, "import sys; sys.executable, sys.orig_argv")).toBe("('', [])");
  });

  test("a write of another length to the device that waits is an error", async () => {
    expect(await errorOf("import os; os.write(os.open('/dev/rlm/wait', os.O_WRONLY), b'abc')")).toMatch(/^OSError/);
  });

  test("/dev/stdout, /dev/stderr and /dev/stdin are those of the session, and there is no terminal", async () => {
    const result = await run(
      "for n in ('stdout', 'stderr'): open('/dev/' + n, 'w').write(n)\nopen('/dev/stdin').read()",
    );
    expect(result).toMatchObject({ stdout: "stdout", stderr: "stderr", value: { "text/plain": "''" } });
    expect(await errorOf("open('/dev/tty')")).toMatch(/^FileNotFoundError/);
  });

  test("what code writes past the streams belongs to its own execution", async () => {
    for (let index = 0; index < 50; index += 1) {
      const result = await run(`import os; os.write(1, b'out ${index}'); os.write(2, b'err ${index}')`);
      expect(result).toMatchObject({ stdout: `out ${index}`, stderr: `err ${index}` });
      const byName = `f = open('/dev/rlm/stdout', 'w'); f.write('by name ${index}'); f.close(); open('/dev/rlm/writes', 'rb').read(4); 0`;
      expect(await run(byName)).toMatchObject({ stdout: `by name ${index}`, value: { "text/plain": "0" } });
    }
  });

  test("what needs processes or time zones says what to use instead", async () => {
    expect(await errorOf("import multiprocessing; multiprocessing.Process(target=print).start()")).toMatch(
      /cannot start processes.*'local'/,
    );
    expect(await errorOf("import zoneinfo; zoneinfo.ZoneInfo('Europe/Berlin')")).toMatch(/'tzdata'.*folder of wheels/);
  });

  test("an interrupt that Python drops in __del__ is repeated, and prints nothing", async () => {
    const code = "class A:\n  def __del__(self):\n    while True: pass\na = A()\ndel a\nwhile True: pass";
    const result = await session.execute(code, { timeoutMs: 500 }).result;
    expect(result).toMatchObject({ status: "interrupted", reason: "timeout", stderr: "" });
  });

  test("a worker whose own code is broken is lost, and not taken for an exit", { tags: "stress" }, async () => {
    const result = await run("import sys; sys.modules['_rlm_worker.wasm.wasm_worker']._die('broken')");
    expect(result).toMatchObject({ status: "interrupted", reason: "worker-lost" });
    expect(await run("import posix; posix._exit(3)")).toMatchObject({ status: "exit", exitCode: 3 });
    expect(await valueOf(session, "1 + 1")).toBe("2");
  });
}
