// The functions for long texts in the session of a run.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, scripted, type Script } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

/** The value of an expression in the session of a run. */
async function valueOf(expression: string, context: string, sub: Script = []): Promise<unknown> {
  const script: Script = (request, signal) =>
    request.model === "sub" && typeof sub === "function" ? sub(request, signal) : code(`FINAL(${expression})`);
  const { status, data } = await scripted(runtime, script).run({ query: "?", context }).result;
  expect(status).toBe("final");
  return data;
}

test("grep finds lines with their numbers, in a text, a list and a dict", async () => {
  const text = "one\ntwo\nthree\ntwo again";
  expect(await valueOf("grep('two', context)", text)).toEqual(["2: two", "4: two again"]);
  expect(await valueOf("grep('TWO', context, limit=1, flags=2)", text)).toEqual(["2: two"]);
  expect(await valueOf("grep('three', context, context=1)", text)).toEqual(["3: two\nthree\ntwo again"]);
  expect(await valueOf("grep('two', [context, 'none', {'two': 2}])", text)).toEqual([
    "0:2: two",
    "0:4: two again",
    '2:1: {"two": 2}',
  ]);
  expect(await valueOf("grep('two', {'first': context})", text)).toEqual(["first:2: two", "first:4: two again"]);
});

test("peek shows both ends, the type and the length", async () => {
  expect(await valueOf("peek(context)", "short")).toBe("[str, 5 characters]\nshort");
  expect(await valueOf("peek(context, 2)", "abcdefgh")).toBe("[str, 8 characters]\nab\n… 4 characters omitted …\ngh");
  expect(await valueOf("peek([1, 2])", "")).toBe("[list, 2 items]\n[1, 2]");
  expect(await valueOf("peek({'a': ['bc', b'd']})", "")).toBe(
    "[dict, 1 item, 2 characters and 1 byte in all]\n{'a': ['bc', b'd']}",
  );
  expect(await valueOf("peek(b'ab')", "")).toBe("[bytes, 2 bytes]\nb'ab'");
  expect(await valueOf("peek(7)", "")).toBe("[int, no length]\n7");
});

test("chunk cuts at line ends, and its pieces add up to the text", async () => {
  const text = Array.from({ length: 50 }, (_, n) => `line ${n}`).join("\n");
  expect(await valueOf("[max(map(len, chunk(context, 40))), ''.join(chunk(context, 40)) == context]", text)).toEqual([
    expect.toSatisfy((length) => length <= 40),
    true,
  ]);
  expect(await valueOf("chunk('abcdef', 4, overlap=2)", "")).toEqual(["abcd", "cdef"]);
});

test("map_query asks about each item, reduce_query until one answer is left", async () => {
  const sub: Script = ({ messages }) => `<${messages.at(-1)?.content ?? ""}>`;
  expect(await valueOf("map_query(['a', {'b': 1}], '{index}: {item}?')", "", sub)).toEqual([
    "<0: a?>",
    '<1: {"b": 1}?>',
  ]);
  expect(await valueOf("map_query(['a'], 'What is')", "", sub)).toEqual(["<What is\n\na>"]);
  expect(await valueOf("reduce_query(['aaa', 'bbb'], 'Join', pack=4)", "", () => "x")).toBe("x");
  expect(await valueOf("reduce_query(['a', 'b'], 'Join')", "", sub)).toBe("<Join\n\na\n\n---\n\nb>");
});
