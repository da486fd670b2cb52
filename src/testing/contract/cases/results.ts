// Results of executions: a union by status, with views that are not part of the data.

import { REPLExecutionError } from "../../../errors.ts";
import { check, equal, like, matches, throws } from "../asserts.ts";
import type { ContractCase } from "../case.ts";
import { begin, run, toBytes, toText, valueOf } from "../drive.ts";

const COMMON = [
  "displays",
  "durationMs",
  "epoch",
  "executionCount",
  "executionId",
  "sessionId",
  "state",
  "status",
  "stderr",
  "stdout",
  "truncated",
  "usage",
];

const RICH = `
class Rich:
    def __init__(self, text): self.text = text
    def _repr_html_(self): return f"<b>{self.text}</b>"
    def _repr_png_(self): return b"\\x89PNG\\r\\n\\x1a\\n\\x00\\xff"
    def _repr_json_(self): return {"text": self.text, "n": [1, None]}
    def __repr__(self): return self.text
`;

export const RESULTS: readonly ContractCase[] = [
  {
    name: "a result with a value has the documented fields and no others",
    async run({ openSession }) {
      const session = await openSession();
      const result = await session.execute("import sys; print('out'); print('err', file=sys.stderr); 1 + 1");
      equal(Object.keys(result).toSorted(), [...COMMON, "value"].toSorted(), "the fields");
      matches(result, {
        status: "ok",
        stdout: "out\n",
        stderr: "err\n",
        value: { "text/plain": "2" },
        displays: [],
        state: "kept",
        truncated: null,
        sessionId: session.id,
        executionCount: 1,
      });
      check(result.durationMs >= 0 && result.usage.cpuMs >= 0, "the times must not be negative");
      check(result.usage.peakMemoryBytes > 0, "the memory must be known");
    },
  },
  {
    name: "there is no value for None, for statements and for nothing",
    async run({ openSession }) {
      const session = await openSession();
      for (const code of ["None", "x = 1", "", "# nothing", "1;"]) {
        const result = await session.execute(code);
        equal([result.status, "value" in result, result.text], ["ok", false, undefined], `the result of ${code}`);
      }
    },
  },
  {
    name: "text, html, png and json are those of the value, and not part of the data",
    async run({ openSession }) {
      const session = await openSession();
      const result = await run(session, `${RICH}\nRich("hello")`);
      equal([result.text, result.html], ["hello", "<b>hello</b>"], "the texts");
      equal(result.png, new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255]), "the image");
      check(result.png?.constructor === Uint8Array, "the image must be a plain Uint8Array");
      equal(result.json, { text: "hello", n: [1, null] }, "the JSON");
      const data = { ...result };
      for (const name of ["text", "html", "png", "json", "unwrap"]) {
        check(!Object.keys(result).includes(name), `${name} must not be enumerated`);
        check(!(name in data), `${name} must not be copied by a spread`);
        check(!(name in (JSON.parse(JSON.stringify(result)) as object)), `${name} must not be in the JSON`);
      }
      equal(JSON.parse(JSON.stringify(result)), data, "the result through JSON");
    },
  },
  {
    name: "text, html, png and json are those of the last display where the value has none",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, `${RICH}\nfrom IPython.display import display`);
      const result = await run(session, "display(Rich('first')); display(Rich('last')); None");
      equal(result.displays.length, 2, "the number of displays");
      equal(
        [result.text, result.html, result.json],
        ["last", "<b>last</b>", { text: "last", n: [1, null] }],
        "the views",
      );
      const mixed = await run(session, "display(Rich('shown')); 7");
      equal([mixed.text, mixed.html], ["7", "<b>shown</b>"], "the views of a value and a display");
    },
  },
  {
    name: "code that raises has a result with its error, and the state is kept",
    async run({ openSession }) {
      const session = await openSession();
      const result = await session.execute("kept = 1\nprint('before')\n1 / 0");
      equal(Object.keys(result).toSorted(), [...COMMON, "error"].toSorted(), "the fields");
      matches(result, { status: "error", stdout: "before\n", state: "kept" });
      check(result.status === "error", "the status must be error");
      matches(result.error, { name: "ZeroDivisionError", value: "division by zero" });
      like(
        result.error.traceback,
        /^Traceback[^]*<cell 1>", line 3[^]*ZeroDivisionError: division by zero/,
        "the traceback",
      );
      check(!result.error.traceback.includes("worker"), "the traceback must have user frames only");
      equal(await valueOf(session, "kept"), "1", "the variable");
    },
  },
  {
    name: "code that ends in the middle of a statement is incomplete, and nothing of it runs",
    async run({ openSession }) {
      const session = await openSession();
      const result = await session.execute("ran = 1\nfor x in range(3):");
      matches(result, { status: "error", incomplete: true });
      equal(await valueOf(session, "'ran' in globals()"), "False", "whether it ran");
      check(!("incomplete" in (await session.execute("x = = 1"))), "wrong syntax must not be incomplete");
    },
  },
  {
    name: "exit has its code and keeps the session; os._exit loses the state and begins an epoch",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "kept = 1");
      const exited = await session.execute("import sys; sys.exit(3)");
      equal(Object.keys(exited).toSorted(), [...COMMON, "exitCode"].toSorted(), "the fields");
      matches(exited, { status: "exit", exitCode: 3, state: "kept" });
      equal(await valueOf(session, "kept"), "1", "the variable");
      const lost = await session.execute("import os; os._exit(4)");
      matches(lost, { status: "exit", exitCode: 4, state: "lost" });
      check(lost.epoch > exited.epoch, "a new epoch must begin");
      equal(await valueOf(session, "'kept' in globals()"), "False", "whether the variable is there");
    },
  },
  {
    name: "an interrupted result has its reason, and the state is kept",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "kept = 1");
      const { execution } = await begin(session);
      await execution.cancel();
      const result = await execution;
      equal(Object.keys(result).toSorted(), [...COMMON, "error", "reason"].toSorted(), "the fields");
      matches(result, { status: "interrupted", reason: "cancelled", state: "kept", stdout: "begun\n" });
      check(result.status === "interrupted", "the status must be interrupted");
      equal(result.error?.name, "KeyboardInterrupt", "the exception in the code");
      equal(await valueOf(session, "kept"), "1", "the variable");
    },
  },
  {
    name: "unwrap gives the result itself where it is ok, and throws a REPLExecutionError where it is not",
    async run({ openSession }) {
      const session = await openSession();
      const ok = await session.execute("5");
      check(ok.unwrap() === ok, "unwrap must give the result itself");
      const failed = await session.execute("raise ValueError('no')");
      const error = throws(() => failed.unwrap(), REPLExecutionError, /no/);
      matches(error, { code: "EXECUTION_FAILED", sessionAlive: true });
      like(error.traceback, /ValueError: no/, "the traceback");
      throws(() => failed.unwrap(), Error);
    },
  },
  {
    name: "everything that is printed is in the result, with characters of all languages",
    async run({ openSession, capabilities }) {
      const session = await openSession();
      equal((await run(session, "print('naïve 漢字 🦆\\x00', end='')")).stdout, "naïve 漢字 🦆\0", "the output");
      if (!capabilities.processes) return;
      const child = await run(session, "import subprocess; _ = subprocess.run(['echo', 'from a child'])");
      equal(child.stdout, "from a child\n", "the output of a child");
      equal((await run(session, "import os; _ = os.write(2, b'\\xff!')")).stderr, "\ufffd!", "what is not UTF-8");
    },
  },
  {
    name: "output past the limit of a result is cut from the middle and counted, and all of it can be read",
    async run({ openSession }) {
      const session = await openSession();
      const execution = session.execute("print('a' * 1_500_000 + 'b' * 1_500_000)");
      const result = await execution;
      const cut = result.truncated?.stdout;
      check(cut !== undefined, "the result must say what was cut");
      equal(cut.total, 3_000_001, "the size of the output");
      check(cut.omitted > 0 && cut.omitted < cut.total, "what was omitted must be a part of it");
      check(
        result.stdout.startsWith("aaa") && result.stdout.endsWith("bbb\n"),
        "the beginning and the end must be kept",
      );
      let text = "";
      for (let offset = 0; offset < cut.total;) {
        const slice = await execution.output({ stream: "stdout", offset });
        equal([slice.offset, slice.totalBytes, slice.readableBytes], [offset, cut.total, cut.total], "the slice");
        check(slice.nextOffset > offset, "reading must advance");
        text += toText(slice.bytes);
        offset = slice.nextOffset;
      }
      check(text === `${"a".repeat(1_500_000)}${"b".repeat(1_500_000)}\n`, "all of the output must be readable");
    },
  },
  {
    name: "top-level await works",
    async run({ openSession }) {
      const session = await openSession();
      equal(await valueOf(session, "import asyncio\nawait asyncio.sleep(0, 'awaited')"), "'awaited'", "the value");
    },
  },
  {
    name: "tracebacks name the cell, or the file that the caller named",
    async run({ openSession }) {
      const session = await openSession();
      const named = await session.execute("1 / 0", { fileName: "my notes.py" });
      like(named.error?.traceback, /"my notes\.py", line 1/, "the traceback");
      const cell = await session.execute("1 / 0");
      like(cell.error?.traceback, /"<cell 2>", line 1/, "the traceback");
    },
  },
  {
    name: "environment variables of an execution are there during it, and gone afterwards",
    async run({ openSession }) {
      const session = await openSession({ env: { SESSION: "s", BOTH: "session" } });
      const code = "import os; [os.environ.get(name) for name in ('SESSION', 'BOTH', 'OWN')]";
      equal((await session.execute(code, { env: { OWN: "ö=1", BOTH: "own" } })).text, "['s', 'own', 'ö=1']", "during");
      equal((await session.execute(code)).text, "['s', 'session', None]", "afterwards");
    },
  },
  {
    name: "executions are counted",
    async run({ openSession }) {
      const session = await openSession();
      const results = await Promise.all([session.execute("1"), session.execute("1 / 0"), session.execute("3")]);
      equal(
        results.map(({ executionCount }) => executionCount),
        [1, 2, 3],
        "the counts",
      );
      equal((await session.info()).executionCount, 3, "the count in the statistics");
    },
  },
  {
    name: "a large value is cut, and the result says so",
    async run({ openSession }) {
      const session = await openSession();
      const result = await run(session, "'x' * 5_000_000");
      check((result.text?.length ?? 0) < 5_000_000, "the text must be cut");
      check((result.truncated?.value?.omitted ?? 0) > 0, "the result must say what was cut");
    },
  },
  {
    name: "code may have any characters and size",
    async run({ openSession }) {
      const session = await openSession();
      equal(await valueOf(session, "größe = '🦆'; größe"), "'🦆'", "the value");
      const long = "x".repeat(3_000_000);
      equal(await valueOf(session, `len('${long}')`), "3000000", "the value");
      equal(toBytes("🦆").length, 4, "bytes");
    },
  },
];
