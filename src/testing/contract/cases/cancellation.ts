// How work is stopped: time limits, interrupts, cancelling, signals; and how much of it may wait.

import { SessionBusyError } from "../../../errors.ts";
import { check, equal, matches, rejects } from "../asserts.ts";
import type { ContractCase } from "../case.ts";
import { begin, collect, ENDLESS, firstOutput, run, valueOf } from "../drive.ts";

export const CANCELLATION: readonly ContractCase[] = [
  {
    name: "code is interrupted at its time limit, and the state is kept",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "kept = 1");
      const result = await session.execute(ENDLESS, { timeoutMs: 200 });
      matches(result, { status: "interrupted", reason: "timeout", state: "kept" });
      equal(await valueOf(session, "kept"), "1", "the variable");
    },
  },
  {
    name: "the clock starts when the code starts",
    async run({ openSession }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const queued = session.execute("'in time'", { timeoutMs: 20_000 });
      const late = session.execute("while True: pass", { timeoutMs: 100 });
      await execution.cancel();
      equal((await queued).text, "'in time'", "the value");
      matches(await late, { status: "interrupted", reason: "timeout" });
    },
  },
  {
    name: "a time limit of null or Infinity is none",
    async run({ openSession }) {
      const session = await openSession();
      equal((await session.execute("1", { timeoutMs: null })).text, "1", "the value");
      equal((await session.execute("2", { timeoutMs: Number.POSITIVE_INFINITY })).text, "2", "the value");
    },
  },
  {
    name: "interrupt stops what runs, resolves to its id, and lets what waits run",
    async run({ openSession, other }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const next = session.execute("'next'");
      const elsewhere = await other.sessions.get(session.id);
      equal(await elsewhere.interrupt(), execution.id, "the id");
      matches(await execution, { status: "interrupted", reason: "cancelled", state: "kept" });
      equal((await next).text, "'next'", "the value of what waited");
    },
  },
  {
    name: "interrupt of an idle session resolves to null",
    async run({ openSession }) {
      const session = await openSession();
      equal(await session.interrupt(), null, "the id");
      equal(await valueOf(session, "1"), "1", "the value of the next execution");
    },
  },
  {
    name: "an execution that is cancelled in the queue never starts",
    async run({ openSession }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const queued = session.execute("never = 1");
      await queued.cancel();
      const result = await queued;
      matches(result, { status: "interrupted", reason: "cancelled", state: "kept", stdout: "" });
      check(!("error" in result), "what never started has no error");
      equal(
        (await collect(queued)).map(({ type }) => type),
        ["execution-end"],
        "the events",
      );
      await execution.cancel();
      equal(await valueOf(session, "'never' in globals()"), "False", "whether it ran");
    },
  },
  {
    name: "cancelling what has ended does nothing, also while something else runs",
    async run({ openSession }) {
      const session = await openSession();
      const ended = session.execute("1");
      await ended;
      const { execution } = await begin(session);
      await ended.cancel();
      equal((await session.info()).state, "running", "the state");
      await execution.cancel();
      matches(await ended, { status: "ok", text: "1" });
    },
  },
  {
    name: "a signal that is aborted before rejects with its reason, and nothing runs",
    async run({ openSession, runtime }) {
      const session = await openSession();
      const signal = AbortSignal.abort(new RangeError("changed my mind"));
      await rejects(session.execute("ran = 1", { signal }), RangeError, { message: "changed my mind" });
      await rejects(runtime.execute("1", { signal }), RangeError, { message: "changed my mind" });
      await rejects(session.set("ran", { json: 1 }, { signal }), RangeError);
      await rejects(session.get("ran", { signal }), RangeError);
      equal(await valueOf(session, "'ran' in globals()"), "False", "whether it ran");
    },
  },
  {
    name: "a signal that is aborted while the execution waits keeps it from starting",
    async run({ openSession }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const controller = new AbortController();
      const queued = session.execute("never = 1", { signal: controller.signal });
      while ((await session.info()).waiting === 0) continue;
      controller.abort();
      matches(await queued, { status: "interrupted", reason: "cancelled" });
      await execution.cancel();
      equal(await valueOf(session, "'never' in globals()"), "False", "whether it ran");
    },
  },
  {
    name: "a signal that is aborted right after the call keeps the code from running",
    async run({ openSession }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const controller = new AbortController();
      const queued = session.execute("never = 1", { signal: controller.signal });
      controller.abort(new RangeError("enough"));
      // Whether it has reached the session by then is not known.
      const outcome = await queued.catch((error: unknown) => error);
      if (outcome instanceof Error) check(outcome instanceof RangeError, "the reason must reach the caller unchanged");
      else matches(outcome, { status: "interrupted", reason: "cancelled" });
      await execution.cancel();
      equal(await valueOf(session, "'never' in globals()"), "False", "whether it ran");
    },
  },
  {
    name: "a signal that is aborted while the code runs interrupts it, whether its events are read or not",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "kept = 1");
      const read = new AbortController();
      const watched = session.execute(ENDLESS, { signal: read.signal, timeoutMs: null });
      await firstOutput(watched);
      read.abort();
      matches(await watched, { status: "interrupted", reason: "cancelled", state: "kept" });
      const awaited = new AbortController();
      const execution = session.execute(ENDLESS, { signal: awaited.signal, timeoutMs: null });
      const result = execution.then((value) => value);
      const subscription = session.subscribe(() => awaited.abort());
      await subscription.ready;
      if ((await session.info()).state === "running") awaited.abort();
      matches(await result, { status: "interrupted", reason: "cancelled", state: "kept" });
      subscription[Symbol.dispose]();
      equal(await valueOf(session, "kept"), "1", "the variable");
    },
  },
  {
    name: "aborting a signal after the end does nothing",
    async run({ openSession }) {
      const session = await openSession();
      const controller = new AbortController();
      const ended = session.execute("1", { signal: controller.signal });
      await ended;
      const { execution } = await begin(session);
      controller.abort();
      equal((await session.info()).state, "running", "the state");
      await execution.cancel();
      equal((await ended).text, "1", "the value");
    },
  },
  {
    name: "a signal that is aborted while set and get wait rejects them with its reason",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = 1");
      const { execution } = await begin(session);
      const controller = new AbortController();
      const { signal } = controller;
      const waiting = [session.set("x", { json: 2 }, { signal }), session.get("x", { signal })];
      const streamed = session.set("x", { stream: new Blob(["3"]), as: "json" }, { signal });
      controller.abort(new RangeError("enough"));
      for (const one of [...waiting, streamed]) await rejects(one, RangeError, { message: "enough" });
      await execution.cancel();
      equal(await valueOf(session, "x"), "1", "the variable");
    },
  },
  {
    name: "a session with too many waiting executions is busy: it rejects, and does not throw",
    async run({ openSession, maxWaiting }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const queued = Array.from({ length: maxWaiting }, (_, i) => session.execute(`${i}`));
      while ((await session.info()).waiting < maxWaiting) continue;
      const refused = session.execute("'too much'");
      const facts = { code: "SESSION_BUSY", sessionId: session.id, waiting: maxWaiting };
      await rejects(refused, SessionBusyError, facts);
      await rejects(collect(refused), SessionBusyError);
      await rejects(session.set("x", { json: 1 }), SessionBusyError, facts);
      await execution.cancel();
      equal((await queued.at(-1))?.text, String(maxWaiting - 1), "the value of the last that waited");
    },
  },
  {
    name: "code that ignores the interrupt is killed, and the session lives on with an empty namespace",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "gone = 1");
      // One call of C code, which never looks for interrupts.
      const code =
        "import os, collections, itertools\n" +
        "collections.deque(itertools.chain(map(os.write, [1], [b'begun\\n']), itertools.count()), maxlen=0)";
      const execution = session.execute(code, { timeoutMs: null });
      await firstOutput(execution);
      await execution.cancel();
      const result = await execution;
      matches(result, { status: "interrupted", reason: "cancelled", state: "lost" });
      equal(await valueOf(session, "'gone' in globals()"), "False", "whether the variable is there");
      check((await session.info()).epoch >= result.epoch, "the epoch of the session must not be older");
    },
  },
  {
    name: "listing variables, reading files and the state do not wait for running code",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = [1, 2]");
      await session.files.write("a.txt", "text");
      const { execution } = await begin(session);
      equal(
        (await session.variables()).variables.some(({ name }) => name === "x"),
        true,
        "whether x is listed",
      );
      equal((await session.files.stat("a.txt")).size, 4, "the size of the file");
      equal((await session.info()).state, "running", "the state");
      equal((await session.history()).at(-1)?.status, null, "the status of the last execution");
      await execution.cancel();
    },
  },
  {
    name: "inspecting and completing do not wait for running code",
    needs: ["inspectWhileRunning"],
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = [1, 2]");
      const { execution } = await begin(session);
      equal((await session.inspect("x"))?.repr?.text, "[1, 2]", "the representation");
      equal((await session.complete("x.appe", 6)).matches[0]?.text, "append", "the completion");
      await execution.cancel();
    },
  },
];
