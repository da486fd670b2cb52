// The runtime as a whole: the standard library, what it says about itself, its end, and errors.

import { RLMError, SessionBusyError, SessionNotFoundError, StdlibError } from "../../../errors.ts";
import { check, equal, like, matches, rejects } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { begin, collect, run, valueOf } from "../drive.ts";

export const RUNTIME: readonly ContractCase[] = [
  {
    name: "info has versions, and what the environment can do",
    async run({ runtime, openSession, capabilities }) {
      const session = await openSession();
      const info = await runtime.info();
      like(info.version, /^\d+\.\d+\.\d+/, "a version");
      like(info.node, /^v?\d+\./, "a version");
      like(info.python, /^3\.\d+/, "a version");
      equal(info.capabilities, capabilities, "the capabilities");
      equal(Array.isArray(info.notStopped), true, "whether it is a list");
      const { environment, tier } = info;
      matches(await session.info(), { environment, tier, capabilities }, "the session's environment");
    },
  },
  {
    name: "what is added to the standard library is in every session that is opened later",
    async run({ runtime, openSession }) {
      const name = `f_${crypto.randomUUID().replaceAll("-", "")}`;
      const before = await openSession();
      const source = `import math\n\ndef ${name}(n, *, by=2):\n    "Multiplies."\n    return math.floor(n * by)\n`;
      check((await runtime.stdlib.add(source)).includes(name), "the names must include that of the function");
      equal(await valueOf(await openSession(), `${name}(4.2)`), "8", "the value");
      equal(await valueOf(before, `'${name}' in globals()`), "False", "whether an older session has it");
      const without = await openSession({ includeStdlib: false });
      equal(await valueOf(without, `'${name}' in globals()`), "False", "whether a session without it has it");
      equal((await without.info()).stdlib.loaded, false, "whether it was loaded");
      const listing = await runtime.stdlib.list();
      equal(
        listing.functions.find((one) => one.name === name),
        { name, signature: "(n, *, by=2)", doc: "Multiplies." },
        "the function in the list",
      );
      check(listing.modules.includes("math"), "the module must be listed");
    },
  },
  {
    name: "source with a syntax error adds nothing to the standard library",
    async run({ runtime }) {
      const before = await runtime.stdlib.list();
      const error = await rejects(runtime.stdlib.add("def broken(:\n    pass"), StdlibError, { code: "STDLIB" });
      check(error.why !== "", "the error must say why");
      equal(await runtime.stdlib.list(), before, "the list");
    },
  },
  {
    name: "errors have their class, a code, a name and a message",
    async run({ runtime, openSession, maxWaiting }) {
      const missing = await rejects(runtime.sessions.get(uniqueId("none")), SessionNotFoundError);
      check(missing instanceof RLMError && missing instanceof Error, "the error must extend RLMError");
      equal(missing.name, "SessionNotFoundError", "the name");
      like(missing.message, /none-/, "the message");
      const session = await openSession();
      const { execution } = await begin(session);
      const queued = Array.from({ length: maxWaiting + 1 }, () => session.execute("1"));
      const settled = Promise.allSettled(queued);
      const busy = await rejects(Promise.all(queued), SessionBusyError, { sessionId: session.id });
      check(busy.waiting > 0, "the number of waiting executions must be known");
      await execution.cancel();
      equal((await settled).filter(({ status }) => status === "rejected").length, 1, "how many were refused");
    },
  },
  {
    name: "two runtimes use one session, each in the order of its calls",
    async run({ openSession, other }) {
      const session = await openSession();
      const elsewhere = await other.sessions.get(session.id);
      await run(session, "log = []");
      await Promise.all([0, 1, 2, 3].map((i) => (i % 2 === 0 ? session : elsewhere).execute(`log.append(${i})`)));
      const both = "[n for n in log if n % 2 == 0], [n for n in log if n % 2 == 1]";
      equal(await valueOf(elsewhere, both), "([0, 2], [1, 3])", "what both did");
      await elsewhere.close();
      equal((await session.close()).state, "closed", "the state");
    },
  },
  {
    name: "close is idempotent, and what is asked afterwards rejects",
    async run({ open }) {
      const runtime = await open();
      const session = await runtime.openSession();
      await Promise.all([runtime.close(), runtime.close()]);
      await runtime.close();
      for (const use of [
        () => runtime.openSession(),
        () => session.execute("1"),
        () => collect(runtime.execute("1")),
        () => runtime.shell("true"),
      ])
        await rejects(use(), RLMError);
      await runtime[Symbol.asyncDispose]();
    },
  },
];
