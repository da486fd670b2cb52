// Time limits, interrupts and cancellation.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { run } from "../run-code.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

// Concurrent, because most of these tests wait for a limit.
describe.concurrent("time", () => {
  test("runs out: the code is interrupted and the state kept", async () => {
    await using session = await runtime.openSession();
    await run(session, "x = 5");
    for (const code of [
      "while True: pass",
      "import time; time.sleep(60)",
      "import subprocess; subprocess.run(['sleep', '60'])",
      "import asyncio; await asyncio.sleep(60)",
      "import threading; threading.Lock().acquire() and threading.Event().wait()",
      "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
    ]) {
      const result = await run(session, code, { timeoutMs: 100 });
      expect(result, code).toMatchObject({ status: "interrupted", reason: "timeout", state: "kept", epoch: 1 });
      expect(result.error?.name, code).toBe("KeyboardInterrupt");
    }
    expect((await run(session, "x")).value).toEqual({ "text/plain": "5" });
  });

  test("runs out for code that does not stop: the worker is killed, and the session goes on empty", async () => {
    await using session = await runtime.openSession();
    const code = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)";
    const result = await run(session, code, { timeoutMs: 2_000 });
    expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "lost", epoch: 2 });
    expect((await run(session, "1 + 1")).value).toEqual({ "text/plain": "2" });
  });

  test("does not count while the code waits for a call to the host", async () => {
    let answer: (value: string) => void = () => {};
    const waited = new Promise<string>((resolve) => (answer = resolve));
    await using session = await runtime.openSession({ onCall: () => waited });
    const execution = session.execute("import rlm_host; rlm_host.call('slow')", { timeoutMs: 1000 });
    for await (const event of execution) if (event.type === "call-start") break;
    await run(await runtime.openSession({ id: "bystander" }), "import time; time.sleep(1.1)");
    await runtime.sessions.get("bystander").close();
    answer("done");
    expect((await execution.result).value).toEqual({ "text/plain": "'done'" });
  });

  test("an interrupt works while the code waits for a call, which is then aborted", async () => {
    let aborted = false;
    await using session = await runtime.openSession({
      onCall: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("aborted"));
          });
        }),
    });
    const execution = session.execute("import rlm_host; rlm_host.call('never')");
    for await (const event of execution) if (event.type === "call-start") session.interrupt();
    expect(await execution.result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
    expect(aborted).toBe(true);
  });

  test("an interrupt ends the children that the execution started and spares older ones", async () => {
    await using session = await runtime.openSession();
    await run(session, "import subprocess; old = subprocess.Popen(['sleep', '1000'])");
    const execution = session.execute(
      "import os, time\nnew = subprocess.Popen(['setsid', 'sleep', '1000'])\nprint('up', flush=True)\ntime.sleep(60)",
    );
    for await (const event of execution) if (event.type === "output-delta") session.interrupt();
    expect(await execution.result).toMatchObject({ status: "interrupted", state: "kept" });
    expect((await run(session, "old.poll(), new.wait()")).value).toEqual({ "text/plain": "(None, -9)" });
  });

  test("a signal cancels running and waiting executions", async () => {
    await using session = await runtime.openSession();
    const controller = new AbortController();
    const first = session.execute("print('up', flush=True)\nwhile True: pass");
    const second = session.execute("ran = 1", { signal: controller.signal });
    controller.abort();
    expect(await second.result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
    session.interrupt();
    await first.result;
    expect((await run(session, "'ran' in globals()")).value).toEqual({ "text/plain": "False" });
    expect(() => session.execute("1", { signal: controller.signal })).toThrow(/abort/);
  });

  test("an interrupt cancels an execution that waits for new output pipes, and keeps the state", async () => {
    await using session = await runtime.openSession();
    await run(
      session,
      "import threading; keep = 7; threading.Thread(target=threading.Event().wait, daemon=True).start()",
    );
    const next = session.execute("keep");
    session.interrupt();
    const { status, state } = await next.result;
    expect(["ok", "interrupted"]).toContain(status);
    expect(state).toBe("kept");
    expect((await run(session, "keep")).value).toEqual({ "text/plain": "7" });
  });

  test("an interrupt while the worker is being replaced cancels the execution that waits for it", async () => {
    await using session = await runtime.openSession();
    await run(session, "import os; os._exit(0)");
    const next = session.execute("ran = 1");
    session.interrupt();
    expect(await next.result).toMatchObject({ status: "interrupted", reason: "cancelled" });
    expect((await run(session, "1 + 1")).value).toEqual({ "text/plain": "2" });
  });

  test("an interrupt never hits the next execution", async () => {
    await using session = await runtime.openSession();
    for (let round = 0; round < 100; round += 1) {
      const short = session.execute("pass");
      session.interrupt();
      const next = await session.execute("sum(range(1000))").result;
      expect(next.value).toEqual({ "text/plain": "499500" });
      await short.result;
    }
  });
});
