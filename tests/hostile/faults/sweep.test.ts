// Every system call of the init, the worker, the fork server and the broker while a session is opened, each made to fail, to do
// nothing, or to take long. It takes some minutes, so it is run by hand: RLM_FAULTS=all npx vitest run tests/hostile/faults/sweep.test.ts

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaultStage, type Outcome } from "./fault-stage.ts";
import { injectFault, recordCalls, whyNoStrace, type Call } from "./strace.ts";

const why = process.env["RLM_FAULTS"] === "all" ? whyNoStrace() : "RLM_FAULTS is not 'all'";

/** They cannot fail, or wait for something that never comes. One that did not close a descriptor would be a kernel like no other. */
const SKIPPED = new Set(
  "exit_group poll ppoll epoll_wait epoll_pwait futex getpid gettid rt_sigreturn close close_range mmap munmap mprotect brk wait4 kill".split(
    " ",
  ),
);
/** With a result of 0 they are not skipped but give a wrong descriptor, or nothing where there is something. */
const NOT_PRETENDED = new Set(
  "clone clone3 dup2 fcntl openat pidfd_open pipe2 socketpair setsid read recvmsg rt_sigprocmask".split(" "),
);
/** Facts of a session that has less than others, and can do no more. */
const LESS = /^(listed|modes|may write|null|accounts|open in the init|disk|broken|\w[\w' ]*: undefined)/;

describe.skipIf(why !== undefined)(`every system call${why === undefined ? "" : ` (${why})`}`, () => {
  let stage: FaultStage;
  beforeAll(async () => {
    stage = await FaultStage.open(2);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test.each([
    ["init", "error=ENOMEM"],
    ["init", "error=EPERM"],
    ["init", "retval=0"],
    ["init", "delay_enter=200ms"],
    ["worker", "error=ENOMEM"],
    ["worker", "retval=0"],
    ["fork server", "error=ENOMEM"],
    ["fork server", "error=EAGAIN"],
    ["broker", "error=ENOMEM"],
    ["broker", "retval=0"],
  ] as const)("of the %s: %s", { timeout: 1_800_000 }, async (who, how) => {
    const faulty: string[] = [];
    const counts = { refused: 0, confined: 0, "fork server ended": 0 };
    for (const { name, when, text } of await callsOf(who)) {
      if (how === "retval=0" && NOT_PRETENDED.has(name)) continue;
      const outcome = await stage.openWith({ call: name, when, how }, who === "broker" ? stage.broker : stage.server);
      const left = await stage.leftovers(2000);
      const kind = stage.isServerAlive ? kindOf(outcome) : "fork server ended"; // and everything with it
      counts[kind] += 1;
      const problems = kind === "fork server ended" ? [] : [...problemsOf(outcome, how), ...left];
      if (problems.length > 0)
        faulty.push(`${name}#${when}(${text.slice(0, 60)}: ${problems.join("; ").slice(0, 400)}`);
      if (problems.length > 0 || kind === "fork server ended") await stage.restart();
    }
    process.stderr.write(`${who}, ${how}: ${JSON.stringify(counts)}\n`);
    expect(faulty).toEqual([]);
  });

  test("an init that takes long holds up nobody else", { timeout: 60_000 }, async () => {
    const other = await stage.runtime.openSession();
    await using _ = await injectFault(stage.server, { call: "pivot_root", when: 1, how: "delay_enter=5s" });
    let isOpen = false;
    const opening = stage.runtime.openSession().then((session) => {
      isOpen = true;
      return session;
    });
    await other.execute("import os; os.kill(os.getpid(), 9)").result;
    expect((await other.execute("1+1").result).value).toEqual({ "text/plain": "2" });
    expect(isOpen).toBe(false);
    await (await opening).close();
    await other.close();
  });

  async function callsOf(who: "init" | "worker" | "fork server" | "broker"): Promise<readonly Call[]> {
    const traced = who === "broker" ? (stage.broker ?? 0) : stage.server;
    const calls = await recordCalls(traced, async () => {
      await using session = await stage.runtime.openSession();
      await session.execute("1").result;
    });
    const pids = [...new Set(calls.map(({ pid }) => pid))];
    const pid = who === "init" ? pids[1] : who === "worker" ? pids[2] : traced;
    const own = calls.filter((call) => call.pid === pid && !SKIPPED.has(call.name));
    // After that it waits for orders.
    const end =
      who === "init" ? own.findIndex(({ name, text }) => name === "clone" && !text.includes("CLONE_THREAD")) + 1 : 0;
    return own.slice(0, end || undefined);
  }
});

function kindOf({ refusal, hasServerEnded }: Outcome): "refused" | "confined" | "fork server ended" {
  if (hasServerEnded) return "fork server ended";
  return refusal === undefined ? "confined" : "refused";
}

function problemsOf({ refusal, gaps }: Outcome, how: string): readonly string[] {
  if (refusal?.startsWith("nothing happened")) return [refusal];
  return how === "retval=0" ? gaps.filter((gap) => !LESS.test(gap)) : gaps;
}
