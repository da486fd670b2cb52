// Interrupts, and the steps of a timeout: interrupt, grace, kill.

import { describe, expect, test } from "vitest";
import type { Session } from "../../../src/api/session.ts";
import { firstOutput, run } from "../../../src/testing/contract/drive.ts";
import { needs, openSession, type Suite } from "./suite.ts";

const BEGUN = "import asyncio, time\nprint('begun', flush=True)\n";
const STUBBORN = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";

export function describeStopping(suite: Suite): void {
  describe("stopping", () => {
    test("interrupt() ends a child process", async (context) => {
      needs(suite, context, "processes");
      await using session = await openSession(suite);
      const execution = session.execute(`import subprocess\n${BEGUN}subprocess.run(['sleep', '600'])`);
      await firstOutput(execution);
      await session.interrupt();
      expect(await execution).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
    });

    test("interrupt() of an idle session stops nothing", async () => {
      await using session = await openSession(suite);
      expect(await session.interrupt()).toBe(null);
      expect((await run(session, "1 + 1")).text).toBe("2");
    });

    test("a signal cancels what runs, and what waits never starts", async () => {
      await using session = await openSession(suite);
      const controller = new AbortController();
      const { signal } = controller;
      const execution = session.execute(`${BEGUN}while True: pass`, { signal, timeoutMs: null });
      const waiting = session.execute("print('ran')", { signal });
      await firstOutput(execution);
      controller.abort();
      expect(await execution).toMatchObject({ status: "interrupted", reason: "cancelled" });
      expect(await waiting.catch((error: unknown) => error)).not.toMatchObject({ status: "ok" });
    });

    test("a timeout interrupts, and the state is kept", async () => {
      await using session = await openSession(suite);
      expect(await session.execute("kept = 1\nwhile True: pass", { timeoutMs: 200 })).toMatchObject({
        status: "interrupted",
        reason: "timeout",
        state: "kept",
        epoch: 1,
      });
      expect((await run(session, "kept")).text).toBe("1");
    });

    test("inspecting does not wait for running code", async () => {
      await using session = await openSession(suite);
      const execution = session.execute(`seen = 5\n${BEGUN}while True: time.sleep(0.01)`, { timeoutMs: null });
      await firstOutput(execution);
      expect(await session.info()).toMatchObject({ id: session.id });
      expect((await session.variables()).variables.map(({ name }) => name)).toContain("seen");
      await execution.cancel();
      await execution;
    });
  });

  describe.concurrent("code that ignores interrupts is killed after a grace", () => {
    test("without a checkpoint the state is lost, and files stay", async () => {
      await using session = await openSession(suite);
      await session.files.write("kept.txt", "kept");
      expect(await timeOut(session)).toMatchObject({
        status: "interrupted",
        reason: "timeout",
        state: "lost",
        epoch: 2,
      });
      expect((await run(session, "'x' in globals(), open('kept.txt').read()")).text).toBe("(False, 'kept')");
    });

    test("with a checkpoint the state is restored", async (context) => {
      needs(suite, context, "checkpoint");
      await using session = await openSession(suite);
      await run(session, "kept = lambda: 'here'");
      await session.checkpoint();
      expect(await timeOut(session)).toMatchObject({
        status: "interrupted",
        reason: "timeout",
        state: "restored",
        epoch: 2,
      });
      expect((await run(session, "kept()")).text).toBe("'here'");
    });
  });
}

function timeOut(session: Session) {
  return session.execute(`x = 1\n${STUBBORN}`, { timeoutMs: 200 });
}
