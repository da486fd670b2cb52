// The core of a session, in every environment and tier: run, stop, variables, files.

import { describe, expect, test } from "vitest";
import { collect, firstOutput, printedBy, run, toText } from "../../../src/testing/contract/drive.ts";
import { openSession, type Suite } from "./suite.ts";

const WAITS: readonly (readonly [string, string])[] = [
  ["a busy loop", "while True: pass"],
  ["time.sleep", "time.sleep(600)"],
  ["a stuck await", "await asyncio.Event().wait()"],
];

export function describeCore(suite: Suite): void {
  describe("the core", () => {
    test("a result has every field", async () => {
      await using session = await openSession(suite);
      await run(session, "1");
      const result = await session.execute("import sys; print('out'); print('err', file=sys.stderr); 6 * 7");
      expect(JSON.parse(JSON.stringify(result))).toEqual({
        status: "ok",
        stdout: "out\n",
        stderr: "err\n",
        value: { "text/plain": "42" },
        displays: [],
        state: "kept",
        truncated: null,
        sessionId: session.id,
        executionId: expect.any(String),
        executionCount: 2,
        epoch: 1,
        durationMs: expect.any(Number),
        usage: expect.objectContaining({ cpuMs: expect.any(Number) }),
      });
    });

    test("stdout and stderr keep their order", async () => {
      await using session = await openSession(suite);
      const execution = session.execute(
        "import sys\nfor i in range(20):\n    print('o', i)\n    print('e', i, file=sys.stderr)",
      );
      const lines = Array.from({ length: 20 }, (_, i) => [
        ["stdout", `o ${i}\n`],
        ["stderr", `e ${i}\n`],
      ]).flat();
      expect(printedBy(await collect(execution))).toEqual(lines);
    });

    test.each(WAITS)("interrupt() ends %s and keeps the state", async (_, code) => {
      await using session = await openSession(suite);
      const execution = session.execute(`kept = 1\nimport asyncio, time\nprint('begun', flush=True)\n${code}`, {
        timeoutMs: null,
      });
      await firstOutput(execution);
      expect(await session.interrupt()).toBe(execution.id);
      expect(await execution).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept", epoch: 1 });
      expect((await run(session, "kept")).text).toBe("1");
    });

    test("variables are set and read as JSON, text and bytes", async () => {
      await using session = await openSession(suite);
      const json = { list: [1, null, "ä"], nested: { ok: true } };
      await session.set("j", { json });
      await session.set("t", { text: "line\r\n\u0000€" });
      await session.set("b", { bytes: Uint8Array.of(0, 255, 10, 13) });
      expect((await run(session, "type(j).__name__, type(t).__name__, type(b).__name__")).text).toBe(
        "('dict', 'str', 'bytes')",
      );
      expect(await session.get("j")).toEqual(json);
      expect(await session.get("t", { as: "text" })).toBe("line\r\n\u0000€");
      expect(await session.get("b", { as: "bytes" })).toEqual(Uint8Array.of(0, 255, 10, 13));
    });

    test("files are written, read, listed, renamed and removed, and code sees them", async () => {
      await using session = await openSession(suite);
      await session.files.write("sub/a.txt", "from the host");
      expect((await run(session, "open('sub/a.txt').read()")).text).toBe("'from the host'");
      await run(session, "open('sub/b.bin', 'wb').write(bytes(range(256))); None");
      expect(await session.files.read("sub/b.bin")).toEqual(Uint8Array.from({ length: 256 }, (_, i) => i));
      await session.files.rename("sub/a.txt", "moved/c.txt");
      expect(toText(await session.files.read("moved/c.txt"))).toBe("from the host");
      await session.files.remove("sub");
      expect((await session.files.list()).entries.map(({ path }) => path)).toEqual(["moved"]);
    });
  });
}
