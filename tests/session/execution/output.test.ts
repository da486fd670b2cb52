// Output of executions.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ExecutionEvent, Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { run, until } from "../run-code.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("output", () => {
  test("of child processes and of the C library is captured, in order", async () => {
    await using session = await runtime.openSession();
    const result = await run(
      session,
      [
        "import subprocess, ctypes, os, sys",
        "print('python')",
        "subprocess.run(['sh', '-c', 'echo child; echo oops >&2'])",
        "print('again', flush=True)",
        "libc = ctypes.CDLL(None); libc.puts(b'from C'); libc.fflush(None)",
        "os.write(1, b'raw\\n')",
        "None",
      ].join("\n"),
    );
    expect(result).toMatchObject({ stdout: "python\nchild\nagain\nfrom C\nraw\n", stderr: "oops\n" });
  });

  test("streams while the code runs", async () => {
    await using session = await runtime.openSession();
    const execution = session.execute("print('first')\nimport time\nwhile True: time.sleep(0.01)");
    for await (const event of execution) {
      if (event.type === "output-delta") {
        expect(event).toMatchObject({ stream: "stdout", text: "first\n", executionId: execution.id });
        session.interrupt();
      }
    }
    expect((await execution.result).status).toBe("interrupted");
  });

  test("can be iterated late and repeatedly, with all events in order", async () => {
    await using session = await runtime.openSession();
    const code = "import sys\nprint('a')\nsys.stdout.flush()\nprint('b', file=sys.stderr)\nprint('ü')";
    const execution = session.execute(code);
    await execution.result;
    for (let reader = 0; reader < 2; reader += 1) {
      const events: ExecutionEvent[] = [];
      for await (const event of execution) events.push(event);
      expect(events[0]).toMatchObject({ type: "execution-start", code, executionCount: 1 });
      expect(events.at(-1)).toMatchObject({ type: "execution-end", result: { status: "ok" } });
      const text = (stream: string) =>
        events
          .flatMap((event) => (event.type === "output-delta" && event.stream === stream ? [event.text] : []))
          .join("");
      expect(text("stdout")).toBe("a\nü\n");
      expect(text("stderr")).toBe("b\n");
    }
  });

  test("past the limit is truncated in the middle, counted, and readable by offset", async () => {
    await using small = await openTestRuntime({
      poolSize: 0,
      limits: { keptOutputBytes: 1000, readableOutputBytes: 5000 },
    });
    await using session = await small.openSession();
    const result = await run(session, "for i in range(2000): print(f'{i:09d}')");
    expect(result.truncated).toEqual({ stdout: { total: 20_000, omitted: 19_000 } });
    expect(result.stdout).toMatch(/^000000000\n[\s\S]*… 19,000 bytes omitted …[\s\S]*000001999\n$/);
    const slice = session.output(result.executionId, { offset: 4990, length: 100 });
    expect(slice).toMatchObject({ offset: 4990, nextOffset: 5000, totalBytes: 20_000, readableBytes: 5000 });
    expect(slice?.bytes.toString()).toBe("000000499\n");
    expect(session.output("nobody")).toBeUndefined();
    const gaps = [];
    for await (const event of session.execute("print('x' * 9999)")) {
      if (event.type === "output-gap") gaps.push(event.omittedBytes);
    }
    expect(gaps).toEqual([5000]);
  });

  test("of all sessions together is stored up to one limit, and that which ended longest ago is dropped first", async () => {
    await using small = await openTestRuntime({
      poolSize: 0,
      limits: { keptOutputBytes: 1000, totalOutputBytes: 4_000_000 },
    });
    const [one, other] = [await small.openSession(), await small.openSession()];
    const [first, second] = [await run(one, "print('a' * 3_000_000)"), await run(other, "print('b' * 3_000_000)")];
    expect(other.output(second.executionId)).toMatchObject({ readableBytes: 3_000_001 });
    const kept = one.output(first.executionId);
    expect(kept?.totalBytes).toBe(3_000_001);
    expect(kept?.readableBytes).toBeLessThan(1_000_000);
    expect(kept?.bytes.toString()).toMatch(/^a{500,}$/);
    const third = await run(one, "print('c' * 5_000_000)");
    expect(third.truncated).toEqual({ stdout: { total: 5_000_001, omitted: 4_999_001 } });
    expect(one.output(third.executionId)).toMatchObject({ totalBytes: 5_000_001, readableBytes: 4_000_000 });
    expect(other.output(second.executionId)).toMatchObject({ totalBytes: 3_000_001, readableBytes: 500 });
  });

  test("is dropped and counted when the disk is full", async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), "rlm-full-"));
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "none", folder]);
    if (status !== 0) return skip("no file system can be mounted here");
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
    try {
      await using own = await openTestRuntime({ poolSize: 0 });
      await using session = await own.openSession();
      const result = await run(session, "print('x' * 9_999_999)");
      expect(result).toMatchObject({ status: "ok", truncated: { stdout: { total: 10_000_000 } } });
      const { readableBytes = 0 } = session.output(result.executionId) ?? {};
      expect(readableBytes).toBeGreaterThan(1_000_000);
      expect(readableBytes).toBeLessThanOrEqual(2 * 1024 * 1024);
      const next = await run(session, "print('y' * 1_999_999)"); // gets the space of the first one
      expect(session.output(next.executionId)).toMatchObject({ readableBytes: 2_000_000 });
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      execFileSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true });
    }
  });

  test("is never mixed between sessions", async () => {
    const sessions = await Promise.all(["a", "b", "c"].map((id) => runtime.openSession({ id: `mix-${id}` })));
    const results = await Promise.all(
      sessions.map((session) => run(session, `for i in range(20000): print('${session.id}')`)),
    );
    for (const [index, { stdout }] of results.entries()) {
      expect(new Set(stdout.trim().split("\n"))).toEqual(new Set([`mix-${"abc"[index]}`]));
    }
    await Promise.all(sessions.map((session) => session.close()));
  });

  test("of surviving threads and children goes to the background, never into the next execution", async () => {
    await using session = await runtime.openSession();
    const background: string[] = [];
    session.subscribe((event) => event.type === "background-delta" && background.push(event.text));
    const done = until(session, "background-delta", () => background.join("").includes("thread done"));
    const first = await run(
      session,
      [
        "import subprocess, threading, time, os",
        "go = threading.Event()",
        "def late():",
        "    go.wait()",
        "    print('from thread')",
        "    subprocess.run(['sh', '-c', 'echo from child of thread'])",
        "    print('thread done', flush=True)",
        "threading.Thread(target=late).start()",
        "r, w = os.pipe()",
        "child = subprocess.Popen(['sh', '-c', 'read x; echo from child'], stdin=r)",
        "print('started')",
      ].join("\n"),
    );
    expect(first.stdout).toBe("started\n");
    const second = await run(session, "os.write(w, b'x\\n'); child.wait(); go.set(); print('second')");
    expect(second.stdout).toBe("second\n");
    await done;
    const text = background.join("");
    expect(text).toContain("from thread");
    expect(text).toContain("from child\n");
    const third = await run(session, "print('third')");
    expect(third.stdout).toBe("third\n");
  });
});
