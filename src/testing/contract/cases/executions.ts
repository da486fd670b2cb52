// Executions as they happen: events, output by offset, the order of what is queued, input.

import type { InputRequest } from "../../../api/execution.ts";
import { ExecutionNotFoundError } from "../../../errors.ts";
import { check, equal, matches, rejects, throws } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { begin, collect, first, firstOutput, printedBy, run, toText, valueOf } from "../drive.ts";

export const EXECUTIONS: readonly ContractCase[] = [
  {
    name: "events are the start, what happens in order, and the end with the result",
    async run({ openSession }) {
      const session = await openSession();
      const code =
        "from IPython.display import display\nprint('a')\ndisplay({'text/plain': 'shown'}, raw=True)\nprint('b')\n1";
      const execution = session.execute(code);
      const events = await collect(execution);
      const types = events.map(({ type }) => type);
      equal(
        types.filter((type, at) => type !== "output-delta" || type !== types[at - 1]), // output may come in parts
        ["execution-start", "output-delta", "display", "output-delta", "execution-end"],
        "the types",
      );
      matches(events[0], { code, executionCount: 1, sessionId: session.id, executionId: execution.id });
      matches(
        events.find(({ type }) => type === "display"),
        { data: { "text/plain": "shown" } },
      );
      const seqs = events.map(({ seq }) => seq);
      equal(
        seqs,
        [...new Set(seqs)].toSorted((a, b) => a - b),
        "the sequence numbers",
      );
      const last = events.at(-1);
      check(last?.type === "execution-end", "the last event must be the end");
      equal({ ...last.result }, { ...(await execution) }, "the result in the last event");
    },
  },
  {
    name: "output that alternates between the streams keeps its order",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute(
        "import sys\nfor i in range(50):\n    print(i)\n    print(-i, file=sys.stderr)",
      );
      const printed = printedBy(await collect(execution));
      const expected = Array.from({ length: 50 }, (_, i) => [
        ["stdout", `${i}\n`],
        ["stderr", `${-i}\n`.replace("-0", "0")],
      ]).flat();
      equal(printed, expected, "what was printed");
      const both = Array.from({ length: 50 }, (_, i) => `${i}\n${i === 0 ? 0 : -i}\n`).join("");
      equal(toText((await execution.output()).bytes), both, "both streams by offset");
    },
  },
  {
    name: "events can be read while it runs, late, twice, and by several readers",
    async run({ openSession }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const live = [collect(execution), collect(execution)];
      await execution.cancel();
      const [one, two] = await Promise.all(live);
      equal(
        one?.map(({ type }) => type),
        ["execution-start", "output-delta", "execution-end"],
        "the types",
      );
      equal(two, one, "what the second reader got");
      equal(await collect(execution), one, "what a late reader got");
    },
  },
  {
    name: "leaving the loop stops the listening, and not the code",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute("print('first', flush=True)\nprint('second')\ndone = True\n'done'");
      for await (const event of execution) if (event.type === "output-delta") break;
      equal((await execution).text, "'done'", "the value");
      equal((await execution).stdout, "first\nsecond\n", "the output");
    },
  },
  {
    name: "output streams while the code runs",
    async run({ openSession }) {
      const session = await openSession();
      const { execution } = await begin(session);
      const slice = await execution.output();
      equal([toText(slice.bytes), slice.nextOffset, slice.totalBytes], ["begun\n", 6, 6], "the output so far");
      equal((await session.info()).state, "running", "the state");
      await execution.cancel();
    },
  },
  {
    name: "output is read by offset: both streams or one, in bytes, and empty past the end",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute("import sys\nprint('äb')\nprint('err', file=sys.stderr)\nprint('c')");
      await execution;
      for (const read of [
        (range?: object) => execution.output(range),
        (range?: object) => session.output(execution.id, range),
      ]) {
        equal(toText((await read()).bytes), "äb\nerr\nc\n", "both streams");
        equal(toText((await read({ stream: "stdout" })).bytes), "äb\nc\n", "stdout");
        equal(toText((await read({ stream: "stderr" })).bytes), "err\n", "stderr");
        const part = await read({ stream: "stdout", offset: 2, length: 2 });
        equal(
          { ...part, bytes: toText(part.bytes) },
          { bytes: "b\n", offset: 2, nextOffset: 4, totalBytes: 6, readableBytes: 6 },
          "a part",
        );
        check(part.bytes.constructor === Uint8Array, "the bytes must be a plain Uint8Array");
        const end = await read({ offset: 1000 });
        equal([end.bytes.length, end.nextOffset], [0, 1000], "what is past the end");
        equal((await read({ length: 0 })).bytes.length, 0, "nothing");
      }
    },
  },
  {
    name: "the output of code that prints nothing is empty",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute("1");
      await execution;
      const empty = { bytes: new Uint8Array(), offset: 0, nextOffset: 0, totalBytes: 0, readableBytes: 0 };
      equal(await execution.output(), empty, "the output");
      equal(await session.output(execution.id), empty, "the output");
    },
  },
  {
    name: "the output of an execution that the session never had is an ExecutionNotFoundError",
    async run({ openSession }) {
      const [session, another] = [await openSession(), await openSession()];
      const execution = session.execute("print(1)");
      await execution;
      await rejects(session.output(uniqueId("none")), ExecutionNotFoundError);
      await rejects(another.output(execution.id), ExecutionNotFoundError, { executionId: execution.id });
    },
  },
  {
    name: "ranges of output that cannot be used throw at once",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute("print(1)");
      for (const range of [{ offset: -1 }, { offset: 1.5 }, { length: -1 }, { length: 64 * 1024 * 1024 + 1 }]) {
        throws(() => execution.output(range), RangeError);
        throws(() => session.output(execution.id, range), RangeError);
      }
      throws(() => execution.output({ stream: "stdin" as never }), Error);
      await execution;
    },
  },
  {
    name: "executions run in the order of the calls, without awaiting",
    async run({ openSession, maxWaiting }) {
      const session = await openSession();
      void session.execute("x = 1");
      void session.execute("x += 1; y = [x]");
      equal(await valueOf(session, "x, y"), "(2, [2])", "the variables");
      const many = Array.from({ length: Math.min(30, maxWaiting) }, (_, i) =>
        session.execute(`y.append(${i}); len(y)`),
      );
      equal(
        (await Promise.all(many)).map(({ text }) => text),
        many.map((_, i) => String(i + 2)),
        "the order",
      );
    },
  },
  {
    name: "set, get, reset and executions run in the order of the calls",
    async run({ openSession }) {
      const session = await openSession();
      const set = session.set("x", { json: 20 });
      const doubled = session.execute("x = x * 2; x");
      const got = session.get("x");
      const again = session.set("x", { text: "text" });
      const seen = session.execute("x");
      const reset = session.reset();
      const gone = session.execute("'x' in globals()");
      await Promise.all([set, again, reset]);
      equal(
        [(await doubled).text, await got, (await seen).text, (await gone).text],
        ["40", 40, "'text'", "False"],
        "what they saw",
      );
    },
  },
  {
    name: "onInput answers input(), several times, in order",
    async run({ openSession }) {
      const session = await openSession();
      const requests: InputRequest[] = [];
      const execution = session.execute("a = input('name? '); b = input(); a, b", {
        onInput: (request) => {
          requests.push(request);
          return `answer ${requests.length}`;
        },
      });
      const result = await execution;
      equal(result.text, "('answer 1', 'answer 2')", "the value");
      equal(
        requests.map(({ prompt, password }) => [prompt, password]),
        [
          ["name? ", false],
          ["", false],
        ],
        "the requests",
      );
      check(result.stdout.startsWith("name? "), "the prompt must be printed");
      const types = (await collect(execution)).map(({ type }) => type).filter((type) => type.startsWith("input"));
      equal(types, ["input-start", "input-end", "input-start", "input-end"], "the events of the input");
    },
  },
  {
    name: "onInput is asked for passwords, whose answers appear nowhere",
    async run({ openSession }) {
      const session = await openSession();
      const requests: InputRequest[] = [];
      const execution = session.execute("import getpass; len(getpass.getpass('secret? '))", {
        onInput: async (request) => {
          requests.push(request);
          return "hunter2";
        },
      });
      equal((await execution).text, "7", "the length that the code saw");
      equal(
        requests.map(({ prompt, password }) => [prompt, password]),
        [["secret? ", true]],
        "the requests",
      );
      check(!JSON.stringify(await collect(execution)).includes("hunter2"), "the password must not be in the events");
    },
  },
  {
    name: "answer() answers input() of whoever started the code, once",
    async run({ openSession, runtime }) {
      const session = await openSession();
      const execution = session.execute("a = input('name? '); b = input(); a, b", { onInput: "ask" });
      const found = runtime.executions.get(execution.id);
      for await (const event of execution) {
        if (event.type !== "input-start") continue;
        const { call, prompt } = event;
        equal(await found.answer("early", { call: call + 100 }), false, "the answer to another call");
        equal(await found.answer(prompt === "" ? "two" : "one", { call }), true, "the first answer");
        equal(await execution.answer("late", { call }), false, "a later answer");
      }
      equal((await execution).text, "('one', 'two')", "the value");
      equal(await found.answer(null), false, "the answer after the end");
      throws(() => execution.answer(5 as never), TypeError);
    },
  },
  {
    name: "answer() comes before an onInput that takes long, and aborts its signal",
    async run({ openSession }) {
      const session = await openSession();
      let asked: (request: InputRequest) => void = () => {};
      const asking = new Promise<InputRequest>((resolve) => (asked = resolve));
      const execution = session.execute("input()", {
        onInput: (request) => {
          asked(request);
          return new Promise(() => {});
        },
      });
      const { signal } = await asking;
      const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      equal(await execution.answer("first"), true, "the answer");
      equal((await execution).text, "'first'", "the value");
      await aborted;
    },
  },
  {
    name: "the end of input is an EOFError: from onInput, and where there is none",
    async run({ openSession }) {
      const session = await openSession();
      matches((await session.execute("input()", { onInput: () => null })).error, { name: "EOFError" });
      matches((await session.execute("input()")).error, { name: "EOFError" });
      equal((await session.execute("import sys; sys.stdin.read()")).text, "''", "what a read sees");
    },
  },
  {
    name: "an onInput that throws ends the input, and nothing else",
    async run({ openSession }) {
      const session = await openSession();
      const result = await session.execute("input()", {
        onInput: () => {
          throw new Error("not today");
        },
      });
      matches(result.error, { name: "EOFError", value: "not today" });
      const other = await session.execute("input()", { onInput: () => 5 as never });
      matches(other.error, { name: "EOFError", value: "onInput answered with a number: it must be a string or null" });
      equal(await valueOf(session, "1"), "1", "the value of the next execution");
    },
  },
  {
    name: "the signal of an input request is aborted when the code is interrupted",
    async run({ openSession }) {
      const session = await openSession();
      let asked: (request: InputRequest) => void = () => {};
      const asking = new Promise<InputRequest>((resolve) => (asked = resolve));
      const execution = session.execute("input()", {
        onInput: (request) => {
          asked(request);
          return new Promise(() => {});
        },
      });
      const { signal } = await asking;
      check(!signal.aborted, "the signal must not be aborted while the code waits");
      const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await execution.cancel();
      matches(await execution, { status: "interrupted", reason: "cancelled" });
      await aborted;
    },
  },
  {
    name: "a one-off execution has a session of its own, which ends with it",
    async run({ runtime }) {
      const execution = runtime.execute("import sys, os; print('once'); sys.argv, os.environ['A']", {
        argv: ["prog", "x y"],
        env: { A: "1" },
        includeStdlib: false,
      });
      const result = await execution;
      matches(result, { status: "ok", stdout: "once\n", text: "(['prog', 'x y'], '1')", executionId: execution.id });
      equal((await runtime.execute("'sys' in globals()")).text, "False", "whether another sees its names");
      const { items } = await runtime.sessions.list();
      check(!items.some(({ id }) => id === result.sessionId), "its session must be gone");
    },
  },
  {
    name: "a one-off execution has events, and its output can be read after its session has ended",
    async run({ runtime, other }) {
      const execution = runtime.execute("import sys\nprint('out')\nprint('err', file=sys.stderr)");
      const result = await execution;
      const events = await collect(execution);
      equal(
        events.map(({ type }) => type),
        ["execution-start", "output-delta", "output-delta", "execution-end"],
        "the types",
      );
      equal(
        printedBy(events),
        [
          ["stdout", "out\n"],
          ["stderr", "err\n"],
        ],
        "what was printed",
      );
      equal(toText((await execution.output({ stream: "stderr" })).bytes), "err\n", "the output by offset");
      equal(await other.executions.get(execution.id), result, "the result, found by its id");
    },
  },
  {
    name: "a one-off execution is cancelled by its method and by its signal",
    async run({ runtime }) {
      const code = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)";
      const execution = runtime.execute(code, { timeoutMs: null });
      await firstOutput(execution);
      await execution.cancel();
      matches(await execution, { status: "interrupted", reason: "cancelled" });
      const controller = new AbortController();
      const other = runtime.execute(code, { timeoutMs: null, signal: controller.signal });
      await firstOutput(other);
      controller.abort();
      matches(await other, { status: "interrupted", reason: "cancelled" });
    },
  },
  {
    name: "a one-off execution answers input and has a time limit",
    async run({ runtime }) {
      const answered = await runtime.execute("input('? ')", { onInput: () => "yes" });
      equal(answered.text, "'yes'", "the value");
      const late = await runtime.execute("while True: pass", { timeoutMs: 50 });
      matches(late, { status: "interrupted", reason: "timeout" });
    },
  },
  {
    name: "displays that are updated replace each other in the result, and are all in the events",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute(
        "from IPython.display import display\nh = display({'text/plain': 'one'}, raw=True, display_id='d')\n" +
          "h.update({'text/plain': 'two'}, raw=True)",
      );
      equal((await execution).displays, [{ "text/plain": "two" }], "the displays of the result");
      const shown = (await collect(execution)).filter(({ type }) => type === "display");
      equal(shown.length, 2, "the displays of the events");
      await first(execution, (event) => event.type === "display" && event.update === true);
      equal(await run(session, "1").then(({ displays }) => displays), [], "the displays of the next execution");
    },
  },
];
