// Faults in the later life of a sandbox: new workers, commands and jobs, kills, and what the broker does for it.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { comesTrue, isAlive } from "../machine.ts";
import { failureOf } from "../stage.ts";
import { FaultStage } from "./fault-stage.ts";
import { injectFault, recordCalls, whyNoStrace, type Call, type Fault } from "./strace.ts";

const HOWS = ["error=EPERM", "retval=0"];
const why = whyNoStrace();

describe.skipIf(why !== undefined)(`a system call that fails later${why === undefined ? "" : ` (${why})`}`, () => {
  let stage: FaultStage;
  let session: Session;

  beforeAll(async () => {
    stage = await FaultStage.open(1);
    session = await stage.runtime.openSession();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test("a worker does not start without its mark and all its limits", async () => {
    const calls = await callsOfNew(() => restart(session));
    for (const limit of ["RLIMIT_LOCKS", "RLIMIT_DATA", "RLIMIT_NPROC"]) {
      for (const how of HOWS) {
        const when = whenOf(calls, "prlimit64", `${limit}, {`);
        const old = stage.init;
        await withFault({ call: "prlimit64", when, how }, () => restart(session));
        expect(await comesTrue(() => !isAlive(old)), "the end of the sandbox that has no worker").toBe(true);
        expect(await stage.gapsOf(session)).toEqual([]);
      }
    }
  });

  test("a command does not start without its mark, the filter that fixes it, and all its limits", async () => {
    const run = async (): Promise<unknown> => (await stage.runtime.shell("echo yes", { session }).result).status;
    const calls = await callsOfNew(run);
    for (const [name, part] of [
      ["prlimit64", "RLIMIT_LOCKS, {"],
      ["prctl", "PR_SET_SECCOMP"],
      ["prlimit64", "RLIMIT_NPROC, {"],
    ] as const) {
      for (const how of HOWS) {
        expect(await withFault({ call: name, when: whenOf(calls, name, part), how }, run), `${name} ${how}`).toBe(
          "failed",
        );
      }
    }
    expect(await run()).toBe("completed");
  });

  test("a job does not start without its mark and all its limits", async () => {
    const write = (): Promise<unknown> => failureOf(session.files.write("a.txt", "a"));
    const calls = await callsOfNew(write);
    for (const part of ["RLIMIT_LOCKS, {", "RLIMIT_FSIZE, {"]) {
      for (const how of HOWS) {
        const failure = await withFault({ call: "prlimit64", when: whenOf(calls, "prlimit64", part), how }, write);
        expect(failure, `${part} ${how}`).toMatchObject({ name: "WorkerLostError" });
      }
    }
    expect(await write()).toBe("it worked");
  });

  test("the end of a worker is noticed although the first wakeup fails", async () => {
    const fault = { call: "write", when: 1, how: "error=ENOMEM" };
    const result = await withFault(fault, () => session.execute("import os; os.kill(os.getpid(), 9)").result);
    expect(result).toMatchObject({ status: "interrupted", state: "lost" });
  });

  test("where a worker cannot be killed, its sandbox ends", { tags: "stress" }, async () => {
    const init = stage.init;
    const stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
    const result = await withFault({ call: "kill", when: "3+", how: "error=EPERM" }, () => {
      return session.execute(stubborn, { timeoutMs: 100 }).result; // two interrupts come before the kill
    });
    expect(result).toMatchObject({ status: "interrupted", state: "lost" });
    await expect.poll(() => isAlive(init)).toBe(false);
    expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
  });

  test("where the processes cannot be listed, the sandbox ends", async () => {
    const init = stage.init;
    const result = await withFault({ call: "openat", when: "1+", how: "error=EMFILE" }, () => {
      return session.execute("import os; os.kill(os.getpid(), 9)").result;
    });
    expect(result).toMatchObject({ status: "interrupted", state: "lost" });
    expect(isAlive(init)).toBe(false);
  });

  describe("in the broker", () => {
    // Then it has nothing else to do: the session has its new sandbox.
    beforeEach(async () => void (await session.execute("1+1").result).unwrap());

    test("no user can be mapped: the session is refused, and the user is free again", async ({ skip }) => {
      if (stage.broker === undefined) return skip("there is no broker");
      const calls = await callsOfBroker(stage.broker);
      const when = whenOf(calls, "write", '"1000 ');
      const { refusal } = await stage.openWith({ call: "write", when, how: "error=EPERM" }, stage.broker);
      expect(refusal).toContain("failed to map the user");
    });

    test("no memory cgroup can be made where others have one: the session is refused", async ({ skip }) => {
      if (stage.broker === undefined || stage.runtime.report().cgroup === null)
        return skip("there are no cgroups here");
      const calls = await callsOfBroker(stage.broker);
      const when = calls.findLast(
        ({ name, text }) => name === "openat" && /memory\.(limit_in_bytes|max)"/.test(text),
      )?.when;
      const fault = { call: "openat", when: when ?? 0, how: "error=EIO" };
      const { refusal, gaps } = await stage.openWith(fault, stage.broker);
      expect(gaps).toEqual([]);
      expect(refusal).toContain("failed to join a cgroup");
    });
  });

  test("nothing is left of all that", async () => {
    await session.close();
    expect(await stage.leftovers()).toEqual([]);
  });

  async function withFault<Result>(fault: Fault, work: () => Promise<Result>): Promise<Result> {
    await using _ = await injectFault(stage.init, fault);
    return await work();
  }

  /** The calls of the first process that the init forks during some work. */
  async function callsOfNew(work: () => Promise<unknown>): Promise<readonly Call[]> {
    const { init } = stage;
    const calls = await recordCalls(init, work);
    const pid = calls.find((call) => call.pid !== init)?.pid;
    return calls.filter((call) => call.pid === pid);
  }

  function callsOfBroker(broker: number): Promise<readonly Call[]> {
    return recordCalls(broker, async () => (await stage.runtime.openSession()).close());
  }
});

function whenOf(calls: readonly Call[], name: string, part: string): number {
  const call = calls.find((other) => other.name === name && other.text.includes(part));
  return call?.when ?? expect.fail(`there was no call ${name}(${part})`);
}

/** Ends the worker and waits for a new one. */
async function restart(session: Session): Promise<void> {
  await session.execute("import os; os.kill(os.getpid(), 9)").result;
  (await session.execute("1+1").result).unwrap();
}
