// Completion and signature help from the live namespace. The Python tests of the worker cover the details.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Completions, Runtime, Session } from "../../internals.ts";
import { openTestRuntime, openWith } from "../../open.ts";

let runtime: Runtime;

beforeAll(async () => {
  runtime = await openTestRuntime();
});

afterAll(() => runtime?.close());

const open = (code: string): Promise<Session> => openWith(runtime, code);

/** The code with each match inserted. */
function apply(code: string, { matches, start, end }: Completions): readonly string[] {
  return matches.map(({ text }) => code.slice(0, start) + text + code.slice(end));
}

describe("complete()", () => {
  test.each([
    ["a name", "x = numb", ["x = numbers"]],
    ["an attribute", "numbers.appe", ["numbers.append"]],
    ["a key", `table["fi`, [`table["first`]],
    ["a parameter", "area(wid", ["area(width="]],
    ["an import", "import jso", ["import json"]],
    [
      "a member of a module",
      "from json import dumps, loa",
      ["from json import dumps, load", "from json import dumps, loads"],
    ],
    ["a file in the working directory", "open('rep", ["open('report.csv"]],
  ])("%s", async (_, code, completed) => {
    await using session = await open(
      "numbers = [1]\ntable = {'first': 1}\ndef area(width, height): pass\nopen('report.csv', 'w').close()",
    );
    expect(apply(code, await session.complete(code, code.length))).toEqual(completed);
  });

  test("counts UTF-16 code units, whatever is before the cursor", async () => {
    await using session = await open("numbers = [1]\nübung = 2");
    const code = `s = "𝒳😀é"; numb; üb`;
    const cursor = code.indexOf("numb") + 4;
    const found = await session.complete(code, cursor);
    expect(found).toEqual({
      matches: [{ text: "numbers", type: "name" }],
      total: 1,
      start: cursor - 4,
      end: cursor,
      incomplete: null,
    });
    expect(apply(code, await session.complete(code, code.length))).toEqual([`s = "𝒳😀é"; numb; übung`]);
  });

  test("accepts a cursor within a surrogate pair, and lone surrogates", async () => {
    await using session = await open("x = 1");
    expect(await session.complete("'😀'", 2)).toMatchObject({ end: 2, incomplete: null });
    expect(await session.complete("\uD83D x", 3)).toMatchObject({
      matches: [{ text: "x", type: "name" }],
      start: 2,
      end: 3,
    });
  });

  test("does not change the session: imports, properties and __dir__ run in a fork", async () => {
    await using session = await open(`
import sys
seen = []
class Spy:
    @property
    def lazy(self): seen.append("lazy"); return self
    def __getattr__(self, name): seen.append(name); raise AttributeError(name)
    def __dir__(self): seen.append("dir"); return ["found", 7]
spy = Spy()`);
    expect((await session.complete("spy.lazy.", 9)).matches).toEqual([{ text: "found", type: "attribute" }]);
    await session.complete("from sqlite3 import con", 23);
    const { value } = await session.execute("(seen, 'sqlite3' in sys.modules)").result;
    expect(value?.["text/plain"]).toBe("([], False)");
  });

  test("reports a __dir__ that never ends", async () => {
    await using session = await open("class C:\n    def __dir__(self):\n        while True: pass\nc = C()");
    expect(await session.complete("c.", 2, { timeoutMs: 200 })).toEqual({
      matches: [],
      total: 0,
      start: 2,
      end: 2,
      incomplete: "timeout",
    });
  });
});

describe("signature()", () => {
  test("returns the call at the cursor, with the current parameter", async () => {
    await using session = await open("def area(width, height=2):\n    'The area of a box.'");
    const code = `print("😀", area(1, `;
    expect(await session.signature(code, code.length)).toEqual({
      name: "area",
      signature: "(width, height=2)",
      documentation: "The area of a box.",
      parameter: 1,
    });
    expect(await session.signature(code, 11)).toMatchObject({ name: "print" });
  });

  test("returns null without an open call, and after a timeout", async () => {
    await using session = await open(
      "class C:\n    def __getattr__(self, name):\n        while True: pass\nc = C()\ndef f(): pass\nf.__doc__ = 'd' * 10_000",
    );
    expect(await session.signature("1 + 1", 5)).toBeNull();
    expect(await session.signature("c.method(", 9, { timeoutMs: 200 })).toBeNull();
    expect((await session.signature("f(", 2))?.documentation).toHaveLength(4000);
  });
});
