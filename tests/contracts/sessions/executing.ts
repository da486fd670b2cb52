// Executions: every field of a result, output in order, rich results.

import { describe, expect, test } from "vitest";
import { run } from "../../../src/testing/contract/drive.ts";
import { deferred } from "../../../src/util/async/deferred.ts";
import { needs, openSession, type Suite } from "./suite.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Objects that show themselves as their type says. */
const RICH = `class Rich:
    def __init__(self, **bundle): self.bundle = bundle
    def _repr_mimebundle_(self, include=None, exclude=None): return {k.replace('__', '/'): v for k, v in self.bundle.items()}
`;

export function describeExecuting(suite: Suite): void {
  describe("executing", () => {
    test("an exception is a result with the frames of the user, and what was set before it stays", async () => {
      await using session = await openSession(suite);
      const result = await session.execute("kept = 1\ndef fail():\n    return 1 / 0\nfail()");
      expect(result).toMatchObject({
        status: "error",
        state: "kept",
        error: { name: "ZeroDivisionError", value: "division by zero", traceback: expect.stringContaining("in fail") },
      });
      expect(result.status === "error" && result.error.traceback).not.toMatch(/rlm_|worker|pyodide/);
      expect((await run(session, "kept")).text).toBe("1");
    });

    test("incomplete code runs nothing", async () => {
      await using session = await openSession(suite);
      expect(await session.execute("print('ran')\nfor i in range(3):")).toMatchObject({
        status: "error",
        incomplete: true,
        stdout: "",
      });
    });

    test("sys.exit ends the code and keeps the session, os._exit loses the state", async () => {
      await using session = await openSession(suite);
      expect(await session.execute("import os, sys; kept = 1; sys.exit(3)")).toMatchObject({
        status: "exit",
        exitCode: 3,
        state: "kept",
        epoch: 1,
      });
      expect(await session.execute("os._exit(4)")).toMatchObject({
        status: "exit",
        exitCode: 4,
        state: "lost",
        epoch: 2,
      });
      expect((await run(session, "'kept' in globals()")).text).toBe("False");
    });

    test("a bare None has no value, and top-level await works", async () => {
      await using session = await openSession(suite);
      expect(await run(session, "None")).not.toHaveProperty("value");
      expect((await run(session, "import asyncio\nawait asyncio.sleep(0, 'slept')")).text).toBe("'slept'");
    });

    test("text that is not UTF-8 is replaced, and other text is exact", async () => {
      await using session = await openSession(suite);
      const { stdout } = await run(
        session,
        "import sys; print('ä€😀', flush=True); sys.stdout.buffer.write(b'\\xff!'); None",
      );
      expect(stdout).toBe("ä€😀\n\uFFFD!");
    });

    test("output comes while the code runs", async () => {
      await using session = await openSession(suite);
      const seen = deferred<string>();
      const execution = session.execute("print('first', flush=True)\ninput()\nprint('second')", {
        onInput: () => seen.promise,
      });
      for await (const event of execution) {
        if (event.type !== "output-delta") continue;
        expect(event.text).toBe("first\n");
        break;
      }
      seen.resolve("go on");
      expect((await execution).stdout).toBe("first\nsecond\n");
    });

    test("output of child processes is captured", async (context) => {
      needs(suite, context, "processes");
      await using session = await openSession(suite);
      const code = "import subprocess; subprocess.run(['sh', '-c', 'echo child; echo bad >&2']).returncode";
      expect(await run(session, code)).toMatchObject({ stdout: "child\n", stderr: "bad\n" });
    });

    test("a flood of output is truncated, counted and readable by offset, and the session goes on", async () => {
      await using session = await openSession(suite);
      const execution = session.execute("for _ in range(300): print('x' * 9_999)");
      const { stdout, truncated, state } = await execution;
      expect(stdout.length).toBeLessThanOrEqual(2 ** 20 + 200);
      expect(truncated).toMatchObject({ stdout: { total: 3_000_000, omitted: expect.any(Number) } });
      expect(state).toBe("kept");
      const slice = await session.output(execution.id, { stream: "stdout", offset: 2_999_990 });
      expect(new TextDecoder().decode(slice.bytes)).toBe("xxxxxxxxx\n");
    });

    test("PNG, HTML and JSON are displayed in order, and the last expression is the value", async () => {
      await using session = await openSession(suite);
      const result = await run(
        session,
        `${RICH}display(Rich(image__png='${PNG}')); display(Rich(text__html='<b>1</b>')); display(Rich(application__json={'a': [1]}))
Rich(text__plain='last', text__html='<i>2</i>')`,
      );
      expect(result.displays).toMatchObject([
        { "image/png": PNG },
        { "text/html": "<b>1</b>" },
        { "application/json": '{"a":[1]}' },
      ]);
      expect(result.value).toEqual({ "text/plain": "last", "text/html": "<i>2</i>" });
      expect(result.html).toBe("<i>2</i>");
      expect(result.json).toEqual({ a: [1] });
      expect(Buffer.from(result.png ?? []).toString("base64")).toBe(PNG);
    });

    test("executions run one at a time, in the order of the calls", async () => {
      await using session = await openSession(suite);
      await run(session, "seen = []");
      await Promise.all([1, 2, 3].map((n) => session.execute(`seen.append(${n})`)));
      expect((await run(session, "seen")).text).toBe("[1, 2, 3]");
    });

    test("a one-off execution leaves no session", async () => {
      const before = (await suite.runtime().sessions.list()).items.length;
      expect(await suite.runtime().execute("import os; os.getcwd(); 1 + 1")).toMatchObject({
        status: "ok",
        value: { "text/plain": "2" },
      });
      await expect.poll(async () => (await suite.runtime().sessions.list()).items.length).toBe(before);
    });
  });
}
