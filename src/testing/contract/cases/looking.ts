// Looking at a session: its variables, completions and signatures, and its events.

import type { SessionEvent } from "../../../protocol/events.ts";
import { SessionClosedError } from "../../../errors.ts";
import { check, equal, like, matches, rejects } from "../asserts.ts";
import type { ContractCase, ContractContext } from "../case.ts";
import { begin, nextTurn, printedBy, raisesNothing, record, run, uncaughtDuring } from "../drive.ts";
import type { Session } from "../../../api/session.ts";

const endOf = (id: string) => (event: SessionEvent) => event.type === "execution-end" && event.executionId === id;

async function openWith({ openSession }: ContractContext, code: string): Promise<Session> {
  const session = await openSession({ includeStdlib: false });
  await run(session, code);
  return session;
}

export const LOOKING: readonly ContractCase[] = [
  {
    name: "variables lists the names of the namespace, with underscores on request",
    async run(context) {
      const session = await openWith(
        context,
        "import math\nb = 'text'\na = [1, 2]\n_c = 1\ndef f(): pass\nclass K: pass",
      );
      const { variables, total } = await session.variables();
      equal(total, 5, "the number of names");
      const kinds = Object.fromEntries(variables.map(({ name, type, kind }) => [name, [type, kind]]));
      equal(
        kinds,
        {
          math: ["module", "module"],
          b: ["str", "variable"],
          a: ["list", "variable"],
          f: ["function", "function"],
          K: ["type", "class"],
        },
        "the variables",
      );
      matches(
        variables.find(({ name }) => name === "a"),
        { length: 2 },
      );
      check(
        (await session.variables({ all: true })).variables.some(({ name }) => name === "_c"),
        "_c must be listed",
      );
    },
  },
  {
    name: "inspect describes one variable, within limits, and null is no such name",
    async run(context) {
      const session = await openWith(
        context,
        "x = 'ab' * 10_000\nclass Bad:\n    def __repr__(self): raise ValueError('no')\nbad = Bad()",
      );
      const inspected = await session.inspect("x", { maxCharacters: 100 });
      matches(inspected, { name: "x", type: "str", kind: "variable", length: 20_000, incomplete: null });
      check((inspected?.repr?.text.length ?? 0) <= 100, "the representation must be cut");
      check(inspected?.str?.text.startsWith("abab") === true, "the text must be there");
      like((await session.inspect("bad"))?.errors.repr, /ValueError: no/, "the error of the representation");
      equal(await session.inspect("nothing"), null, "what is no name");
      equal((await session.info()).executionCount, 1, "the count");
    },
  },
  {
    name: "rows is a part of a list or a dict, sorted on request, and null is no such name",
    async run(context) {
      const session = await openWith(context, "x = [30, 10, 20]\nd = {'k': 'v' * 1000}\nn = 1");
      const part = { start: 1, columnStart: 0, total: 3, totalColumns: 1, incomplete: null };
      matches(await session.rows("x", { start: 1, count: 1 }), { ...part, index: ["1"], rows: [["10"]] });
      matches(await session.rows("x", { start: 1, sortBy: 0, descending: true }), {
        ...part,
        columns: [{ name: "value", dtype: "object" }],
        index: ["2", "1"],
        rows: [["20"], ["10"]],
      });
      const found = await session.rows("d");
      equal([found?.index, found?.rows[0]?.[0]?.length], [["'k'"], 200], "a dict, whose value is cut");
      like((await session.rows("n"))?.error, /no rows/, "the error of a number");
      equal((await session.rows("n"))?.rows, [], "the rows of a number");
      equal(await session.rows("nothing"), null, "what is no name");
      equal(await session.rows("no name/"), null, "what cannot be a name");
      equal((await session.info()).executionCount, 1, "the count");
    },
  },
  {
    name: "complete gives the completions at the cursor",
    async run(context) {
      const session = await openWith(context, "value_one, value_two = 1, 2\ntable = {'key': 1}");
      const completions = await session.complete("print(value_", 12);
      equal(completions.matches.map(({ text }) => text).toSorted(), ["value_one", "value_two"], "the matches");
      equal([completions.start, completions.end, completions.total], [6, 12, 2], "where they belong");
      equal((await session.complete("x", 0)).start, 0, "the start at the beginning");
      const emoji = await session.complete("'🦆'; value_o", 13);
      equal([emoji.matches.map(({ text }) => text), emoji.start], [["value_one"], 6], "the matches after an emoji");
    },
  },
  {
    name: "signature describes the innermost open call, and null is none",
    async run(context) {
      const session = await openWith(context, "def greet(name, loud=False):\n    'Greets.'");
      const signature = await session.signature("greet('x', ", 11);
      matches(signature, { name: "greet", signature: "(name, loud=False)", parameter: 1 });
      like(signature?.documentation, /Greets\./, "the documentation");
      equal(await session.signature("1 + 1", 5), null, "what is no call");
    },
  },
  {
    name: "a subscription receives the events of all executions in order",
    async run({ openSession }) {
      const session = await openSession();
      const { events, subscription, until } = await record(session);
      void session.execute("print('one')");
      const last = session.execute("print('two')");
      await until(endOf(last.id));
      equal(
        events.map(({ type }) => type).filter((type) => type !== "execution-queue"), // the second one may have waited
        ["execution-start", "output-delta", "execution-end", "execution-start", "output-delta", "execution-end"],
        "the types",
      );
      equal(printedBy(events), [["stdout", "one\ntwo\n"]], "what was printed");
      const seqs = events.map(({ seq }) => seq);
      equal(
        seqs,
        seqs.toSorted((a, b) => a - b),
        "the sequence numbers",
      );
      subscription[Symbol.dispose]();
      await subscription.ended;
    },
  },
  {
    name: "a subscription receives code that waits for its turn, before it starts or is cancelled",
    async run({ openSession, other }) {
      const session = await openSession();
      const { events, subscription, until } = await record(await other.sessions.get(session.id));
      const { execution: running } = await begin(session);
      const waiting = session.execute("1 + 1");
      await until(({ type }) => type === "execution-queue");
      const { id: executionId } = waiting;
      matches(events.at(-1), { type: "execution-queue", executionId, code: "1 + 1", executionCount: 2 });
      await waiting.cancel();
      await until(endOf(executionId));
      await running.cancel();
      await until(endOf(running.id));
      equal(events.filter(({ type }) => type === "execution-start").length, 1, "the number of executions that started");
      subscription[Symbol.dispose]();
    },
  },
  {
    name: "a subscription that is disposed receives nothing more, and others are not affected",
    async run({ openSession, other }) {
      const session = await openSession();
      const one = await record(session);
      const two = await record(await other.sessions.get(session.id));
      const before = session.execute("1");
      await Promise.all([one.until(endOf(before.id)), two.until(endOf(before.id))]);
      equal(
        one.events.map(({ type, seq }) => [type, seq]),
        two.events.map(({ type, seq }) => [type, seq]),
        "the events",
      );
      one.subscription[Symbol.dispose]();
      one.subscription[Symbol.dispose]();
      await one.subscription.ended;
      const count = one.events.length;
      const after = session.execute("2");
      await two.until(endOf(after.id));
      await nextTurn();
      equal(one.events.length, count, "the number of events after the end");
      two.subscription[Symbol.dispose]();
    },
  },
  {
    name: "a listener that throws is reported as uncaught, and the session and other listeners go on",
    async run({ openSession }) {
      const session = await openSession();
      const error = new Error("a listener failed");
      const raised = await uncaughtDuring(async () => {
        let resolve: () => void = () => {};
        const received = new Promise<void>((done) => (resolve = done));
        let ends = 0;
        const failing = session.subscribe(({ type }) => {
          if (type === "execution-start") throw error;
          ends += 1;
          if (ends === 2) resolve();
        });
        await failing.ready;
        const { events, subscription, until } = await record(session);
        for (const code of ["1", "2"]) await until(endOf(session.execute(code).id));
        await received;
        equal(events.length, 4, "the number of events that the other listener received");
        failing[Symbol.dispose]();
        subscription[Symbol.dispose]();
      });
      if (raised !== undefined) equal(raised, [error, error], "what was reported");
    },
  },
  {
    name: "output of threads after the end of their execution is background output",
    needs: ["threads"],
    async run({ openSession }) {
      const session = await openSession();
      const { events, until, subscription } = await record(session);
      const code =
        "import threading\ngo = threading.Event()\ndef later():\n    go.wait()\n    print('from a thread', flush=True)\n" +
        "thread = threading.Thread(target=later, daemon=True)\nthread.start()";
      await run(session, code);
      await run(session, "go.set()\nthread.join()");
      await until((event) => event.type === "background-delta" && event.text.includes("from a thread"));
      check(!printedBy(events).some(([, text]) => text.includes("thread")), "no execution must have printed it");
      subscription[Symbol.dispose]();
    },
  },
  {
    name: "a subscription ends with the session, after its last event",
    async run({ openSession }) {
      const session = await openSession();
      const { events, subscription } = await record(session);
      await session.reset();
      await session.close();
      await subscription.ended;
      equal(
        events.map(({ type }) => type),
        ["session-reset", "session-end"],
        "the types",
      );
      matches(events[0], { why: "reset", sessionId: session.id });
    },
  },
  {
    name: "a subscription to a session that has ended is never ready, and has ended",
    async run({ openSession, other }) {
      const session = await openSession();
      const elsewhere = await other.sessions.get(session.id);
      await session.close();
      for (const handle of [session, elsewhere]) {
        const events: SessionEvent[] = [];
        const { ready, ended } = handle.subscribe((event) => events.push(event));
        await rejects(ready, SessionClosedError, { sessionId: session.id });
        await ended;
        equal(events, [], "the events");
      }
      await raisesNothing(() => session.subscribe(() => {}).ended);
    },
  },
];
