// Wrong arguments throw at once, before anything is sent or started; an option that does not exist with a suggestion.

import type { Runtime } from "../../../api/runtime.ts";
import type { Session } from "../../../api/session.ts";
import { equal, throws } from "../asserts.ts";
import type { ContractCase } from "../case.ts";
import { valueOf } from "../drive.ts";

type Call = (options: never) => unknown;

/** Calls that take options, with a misspelt one, and the one that was meant. */
function callsOf(session: Session, runtime: Runtime): readonly (readonly [Call, string, string])[] {
  const execution = session.execute("1");
  const task = runtime.tasks.get("none");
  const { files } = session;
  return [
    [(o) => runtime.openSession(o), "idleTimeout", "idleTimeoutMs"],
    [(o) => runtime.openSession({ limits: o }), "memoryByte", "memoryBytes"],
    [(o) => runtime.execute("1", o), "includeStdLib", "includeStdlib"],
    [(o) => runtime.shell("true", o), "sesion", "session"],
    [(o) => runtime.rlm(o), "submodel", "subModel"],
    [(o) => runtime.sessions.list(o), "limits", "limit"],
    [(o) => runtime.tasks.list(o), "sessionID", "sessionId"],
    [(o) => runtime.runs.list(o), "afer", "after"],
    [(o) => runtime.runs.get("r").eventPage(o), "nodeID", "nodeId"],
    [(o) => runtime.runs.get("r").search("x", o), "limt", "limit"],
    [(o) => runtime.runs.get("r").follow(o), "afer", "after"],
    [(o) => session.execute("1", o), "timeoutMS", "timeoutMs"],
    [(o) => session.shell("true", o), "stdIn", "stdin"],
    [(o) => session.output(execution.id, o), "ofset", "offset"],
    [(o) => session.variables(o), "al", "all"],
    [(o) => session.inspect("x", o), "maxCharacter", "maxCharacters"],
    [(o) => session.rows("x", o), "sortby", "sortBy"],
    [(o) => session.get("x", o), "maxByte", "maxBytes"],
    [(o) => session.set("x", { json: 1 }, o), "timeoutMS", "timeoutMs"],
    [(o) => session.complete("x", 1, o), "timeoutms", "timeoutMs"],
    [(o) => session.signature("f(", 2, o), "timeoutms", "timeoutMs"],
    [(o) => session.fork(o), "Id", "id"],
    [(o) => execution.output(o), "streams", "stream"],
    [(o) => task.output(o), "streams", "stream"],
    [(o) => task.wait(1, o), "singal", "signal"],
    [(o) => files.read("x", o), "maxByte", "maxBytes"],
    [(o) => files.readStream("x", o), "lenght", "length"],
    [(o) => files.write("x", "y", o), "singal", "signal"],
    [(o) => files.list(".", o), "dept", "depth"],
    [(o) => files.stat("x", o), "singal", "signal"],
    [(o) => files.exists("x", o), "singal", "signal"],
    [(o) => files.makeFolder("x", o), "singal", "signal"],
    [(o) => files.rename("x", "y", o), "singal", "signal"],
    [(o) => files.remove("x", o), "singal", "signal"],
    [(o) => files.watch(".", o), "recursiv", "recursive"],
  ];
}

/** Says which call it was. */
function named(call: Call, assert: () => void): void {
  try {
    assert();
  } catch (error) {
    throw new Error(`${String(call)}: ${(error as Error).message}`, { cause: error });
  }
}

const wrong = (value: unknown): never => value as never;

export const ARGUMENTS: readonly ContractCase[] = [
  {
    name: "an option that does not exist is a TypeError with a suggestion, in every call",
    async run({ openSession, runtime }) {
      const session = await openSession();
      for (const [call, name, meant] of callsOf(session, runtime))
        named(call, () => throws(() => call(wrong({ [name]: 1 })), TypeError, new RegExp(`'${name}'.*'${meant}'`)));
    },
  },
  {
    name: "options that are no object are a TypeError, and undefined ones count as absent",
    async run({ openSession, runtime }) {
      const session = await openSession({ id: undefined, env: undefined, limits: undefined });
      for (const [call] of callsOf(session, runtime)) {
        named(call, () => throws(() => call(wrong("text")), TypeError));
        named(call, () => throws(() => call(wrong(null)), TypeError));
        named(call, () => throws(() => call(wrong([])), TypeError));
      }
      const none = { id: undefined, timeoutMs: undefined, env: undefined, signal: undefined, onInput: undefined };
      equal((await session.execute("1", none)).text, "1", "the value");
      equal((await session.files.list(undefined, { depth: undefined, signal: undefined })).entries, [], "the files");
    },
  },
  {
    name: "code and commands that are no text throw at once",
    async run({ openSession, runtime }) {
      const session = await openSession();
      for (const value of [undefined, null, 1, {}]) {
        throws(() => session.execute(wrong(value)), TypeError);
        throws(() => runtime.execute(wrong(value)), TypeError);
        throws(() => session.shell(wrong(value)), TypeError);
        throws(() => runtime.shell(wrong(value)), TypeError);
        throws(() => runtime.stdlib.add(wrong(value)), TypeError);
      }
      throws(() => session.shell(" "), RangeError);
      throws(() => session.shell("echo \0"), TypeError);
    },
  },
  {
    name: "times, variables, signals and functions that cannot be used throw at once",
    async run({ openSession, runtime }) {
      const session = await openSession();
      for (const timeoutMs of [0, -1, Number.NaN, wrong("1")]) {
        throws(() => session.execute("1", { timeoutMs }), RangeError);
        throws(() => runtime.execute("1", { timeoutMs }), RangeError);
        throws(() => session.shell("true", { timeoutMs }), RangeError);
        throws(() => session.set("x", { json: 1 }, { timeoutMs }), RangeError);
        throws(() => session.get("x", { timeoutMs }), RangeError);
        throws(() => session.inspect("x", { timeoutMs }), RangeError);
        throws(() => session.complete("x", 1, { timeoutMs }), RangeError);
      }
      for (const env of [{ "A=B": "1" }, { "": "1" }]) throws(() => session.execute("1", { env }), RangeError);
      for (const env of [wrong("A=1"), wrong({ A: 1 }), { A: "\0" }]) {
        throws(() => session.execute("1", { env }), TypeError);
        throws(() => session.shell("true", { env }), TypeError);
        throws(() => runtime.openSession({ env }), TypeError);
      }
      throws(() => session.execute("1", { signal: wrong({}) }), TypeError);
      throws(() => session.get("x", { signal: wrong("no") }), TypeError);
      throws(() => session.files.read("x", { signal: wrong({}) }), TypeError);
      throws(() => session.execute("1", { onInput: wrong("yes") }), TypeError);
      throws(() => session.execute("1", { fileName: wrong(1) }), TypeError);
      throws(() => session.subscribe(wrong(undefined)), TypeError);
    },
  },
  {
    name: "options of sessions that cannot be used throw at once",
    async run({ runtime }) {
      for (const id of ["", "a b", "/", "x".repeat(65)]) throws(() => runtime.openSession({ id }), RangeError);
      throws(() => runtime.openSession({ id: wrong(7) }), TypeError);
      throws(() => runtime.openSession({ idleTimeoutMs: 0 }), RangeError);
      throws(() => runtime.openSession({ autoCheckpoint: -1 }), RangeError);
      throws(() => runtime.openSession({ limits: { memoryBytes: -1 } }), RangeError);
      throws(() => runtime.openSession({ limits: { openFiles: 1.5 } }), RangeError);
      throws(() => runtime.openSession({ argv: wrong("x") }), TypeError);
      throws(() => runtime.openSession({ argv: [wrong(1)] }), TypeError);
      throws(() => runtime.openSession({ cwd: wrong(1) }), TypeError);
      throws(() => runtime.openSession({ environment: wrong(1) }), TypeError);
      throws(() => runtime.openSession({ includeStdlib: wrong("no") }), TypeError);
    },
  },
  {
    name: "names and values of variables that cannot be used throw at once",
    async run({ openSession }) {
      const session = await openSession();
      for (const name of ["", "a b", "1x", "class", "a.b"]) {
        throws(() => session.set(name, { json: 1 }), RangeError);
        throws(() => session.set(name, { stream: new Blob(["x"]) }), RangeError);
        throws(() => session.get(name), RangeError);
      }
      throws(() => session.set(wrong(1), { json: 1 }), TypeError);
      throws(() => session.set("x", wrong(undefined)), TypeError);
      throws(() => session.set("x", wrong({})), TypeError);
      throws(() => session.set("x", wrong({ text: "1", ass: "json" })), TypeError);
      throws(() => session.set("x", wrong({ text: "1", json: 1 })), TypeError);
      throws(() => session.set("x", wrong({ json: 1, as: "text" })), TypeError);
      throws(() => session.set("x", wrong({ text: 1 })), TypeError);
      throws(() => session.set("x", { text: "half \uD800" }), TypeError, /half of a character/);
      throws(() => session.set("x", { text: '"\uDC00"', as: "json" }), TypeError, /half of a character/);
      throws(() => session.set("x", wrong({ text: "1", as: "bytes" })), TypeError);
      throws(() => session.set("x", wrong({ bytes: "text" })), TypeError);
      throws(() => session.set("x", wrong({ stream: 1 })), TypeError);
      throws(() => session.set("x", wrong({ stream: "x", as: "yaml" })), TypeError);
      throws(() => session.set("x", { json: undefined }), TypeError);
      throws(() => session.set("x", { json: () => {} }), TypeError);
      throws(() => session.get("x", { as: wrong("yaml") }), TypeError);
      throws(() => session.get("x", { maxBytes: -1 }), RangeError);
      throws(() => session.inspect(wrong(1)), TypeError);
      throws(() => session.inspect("x", { maxCharacters: 0.5 }), RangeError);
      throws(() => session.rows(wrong(1)), TypeError);
      for (const part of [{ start: -1 }, { count: 0 }, { count: 501 }, { columnCount: 51 }, { sortBy: wrong("a") }])
        throws(() => session.rows("x", part), RangeError);
      throws(() => session.rows("x", { descending: wrong(1) }), TypeError);
      throws(() => session.complete(wrong(1), 0), TypeError);
      throws(() => session.complete("x", 2), RangeError);
      throws(() => session.complete("x", -1), RangeError);
      throws(() => session.signature("x", 2), RangeError);
      equal(await valueOf(session, "'x' in globals()"), "False", "whether something was set");
    },
  },
  {
    name: "paths, content and ranges of files that cannot be used throw at once",
    async run({ openSession }) {
      const { files } = await openSession();
      for (const path of [wrong(undefined), wrong(1), wrong({})]) {
        throws(() => files.read(path), TypeError);
        throws(() => files.readStream(path), TypeError);
        throws(() => files.write(path, "x"), TypeError);
        throws(() => files.stat(path), TypeError);
        throws(() => files.exists(path), TypeError);
        throws(() => files.makeFolder(path), TypeError);
        throws(() => files.rename(path, "x"), TypeError);
        throws(() => files.rename("x", path), TypeError);
        throws(() => files.remove(path), TypeError);
      }
      for (const path of ["", "x".repeat(5000)]) {
        throws(() => files.read(path), RangeError);
        throws(() => files.readStream(path), RangeError);
        throws(() => files.write(path, "x"), RangeError);
        throws(() => files.list(path), RangeError);
        throws(() => files.makeFolder(path), RangeError);
        throws(() => files.rename("x", path), RangeError);
      }
      for (const content of [undefined, null, 1, {}, [1]]) throws(() => files.write("x", wrong(content)), TypeError);
      for (const offset of [-1, 0.5]) {
        throws(() => files.read("x", { offset }), RangeError);
        throws(() => files.read("x", { length: offset }), RangeError);
        throws(() => files.read("x", { maxBytes: offset }), RangeError);
        throws(() => files.readStream("x", { offset }), RangeError);
      }
      throws(() => files.list(".", { depth: 0 }), RangeError);
      throws(() => files.list(".", { depth: 65 }), RangeError);
      equal((await files.list()).entries, [], "the files");
    },
  },
  {
    name: "pages, waits and input that cannot be used throw at once",
    async run({ runtime }) {
      for (const limit of [0, -1, 1.5, 1001]) {
        throws(() => runtime.sessions.list({ limit }), RangeError);
        throws(() => runtime.tasks.list({ limit }), RangeError);
        throws(() => runtime.runs.list({ limit }), RangeError);
      }
      throws(() => runtime.tasks.list({ status: wrong("asleep") }), TypeError);
      const task = runtime.tasks.get("none");
      throws(() => task.wait(-1), RangeError);
      throws(() => task.write(wrong(1)), TypeError);
      throws(() => runtime.shell("true", { stdin: wrong("closed") }), TypeError);
      throws(() => runtime.shell("true", { stdin: { text: wrong(1) } }), TypeError);
      throws(() => runtime.shell("true", { cwd: wrong(1) }), TypeError);
      throws(() => runtime.shell("true", { session: wrong(1) }), TypeError);
      for (const session of ["", "a b", "x".repeat(65)]) throws(() => runtime.shell("true", { session }), RangeError);
      throws(() => runtime.shell("true", { session: wrong({}) }), TypeError);
      throws(() => runtime.tasks.get(wrong(1)), TypeError);
      throws(() => runtime.executions.get(wrong(1)), TypeError);
      throws(() => runtime.runs.get(wrong(1)), TypeError);
      throws(() => runtime.sessions.get(wrong(1)), TypeError);
    },
  },
];
