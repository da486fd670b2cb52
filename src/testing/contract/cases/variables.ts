// Setting variables from every form of content, and getting them back.

import type { Content } from "../../../api/web-types.ts";
import { RLMError, SessionStateError, VariableNotFoundError } from "../../../errors.ts";
import { check, equal, like, rejects } from "../asserts.ts";
import type { ContractCase } from "../case.ts";
import { run, toBytes, toText, valueOf } from "../drive.ts";

const TEXT = 'naïve\r\n漢字 🦆 "quoted" \\ \0 end';
const MIB = 1024 * 1024;

async function* piecesOf<Piece>(...pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces;
}

/** The same content in every form that content has. */
export function formsOf(text: string): readonly (readonly [string, () => Content])[] {
  const bytes = toBytes(text);
  const middle = Math.floor(bytes.length / 2);
  return [
    ["a string", () => text],
    ["bytes", () => bytes],
    ["a Blob", () => new Blob([text])],
    ["a ReadableStream", () => new Blob([text]).stream()],
    ["an async iterable of bytes", () => piecesOf(bytes.slice(0, middle), bytes.slice(middle))],
    ["an async iterable of strings", () => piecesOf(...text.split(/(?<=\n)/), "")],
  ];
}

export const VARIABLES: readonly ContractCase[] = [
  {
    name: "JSON goes in and comes out",
    async run({ openSession }) {
      const session = await openSession();
      const value = { list: [1, -2.5, null, true], text: TEXT, nested: { "": [] }, big: 2 ** 53 - 1 };
      await session.set("x", { json: value });
      equal(await session.get("x"), value, "the value");
      equal(await session.get("x", { as: "json" }), value, "the value as JSON");
      equal(
        await valueOf(session, "type(x).__name__, x['list']"),
        "('dict', [1, -2.5, None, True])",
        "what Python sees",
      );
      for (const json of [null, false, 0, "", [], {}]) {
        await session.set("x", { json });
        equal(await session.get("x"), json, "the value");
      }
    },
  },
  {
    name: "JSON text may have integers of any size, and what is not JSON sets nothing",
    async run({ openSession }) {
      const session = await openSession();
      await session.set("x", { text: `[${"9".repeat(40)}]`, as: "json" });
      equal(await valueOf(session, `x == [${"9".repeat(40)}]`), "True", "whether it is exact");
      await rejects(session.set("x", { text: "[1,", as: "json" }), RLMError);
      equal(await valueOf(session, "len(x)"), "1", "the length of the old value");
    },
  },
  {
    name: "text and bytes go in and come out, byte by byte",
    async run({ openSession }) {
      const session = await openSession();
      await session.set("t", { text: TEXT });
      equal(await session.get("t", { as: "text" }), TEXT, "the text");
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
      await session.set("b", { bytes });
      const got = await session.get("b", { as: "bytes" });
      equal(got, bytes, "the bytes");
      check(got.constructor === Uint8Array, "the bytes must be a plain Uint8Array");
      equal(await valueOf(session, "type(t).__name__, type(b).__name__, len(b)"), "('str', 'bytes', 256)", "the types");
      await session.set("view", { bytes: bytes.subarray(10, 20) });
      equal(await session.get("view", { as: "bytes" }), bytes.slice(10, 20), "a part of a buffer");
      await run(session, "array = bytearray(b'ab'); memory = memoryview(b'cd')");
      equal(toText(await session.get("array", { as: "bytes" })), "ab", "a bytearray");
      equal(toText(await session.get("memory", { as: "bytes" })), "cd", "a memoryview");
      await session.set("empty", { bytes: new Uint8Array() });
      equal(await session.get("empty", { as: "bytes" }), new Uint8Array(), "no bytes");
    },
  },
  {
    name: "a stream sets bytes, text or JSON, in every form of content",
    async run({ openSession }) {
      const session = await openSession();
      for (const [form, content] of formsOf(TEXT)) {
        await session.set("x", { stream: content() });
        equal(await session.get("x", { as: "bytes" }), toBytes(TEXT), `bytes from ${form}`);
        await session.set("x", { stream: content(), as: "text" });
        equal(await session.get("x", { as: "text" }), TEXT, `text from ${form}`);
      }
      for (const [form, content] of formsOf('{"a": [1]}')) {
        await session.set("x", { stream: content(), as: "json" });
        equal(await session.get("x"), { a: [1] }, `JSON from ${form}`);
      }
    },
  },
  {
    name: "a stream that fails rejects with its error, and sets nothing",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "x = 'old'");
      async function* broken(): AsyncGenerator<string> {
        yield "begun";
        throw new RangeError("the source broke");
      }
      await rejects(session.set("x", { stream: broken(), as: "text" }), RangeError, { message: "the source broke" });
      const wrong = piecesOf("a", 1 as never);
      await rejects(session.set("x", { stream: wrong, as: "text" }), TypeError);
      equal(await valueOf(session, "x"), "'old'", "the variable");
    },
  },
  {
    name: "8 MiB go in and come out, as text, bytes and stream",
    async run({ openSession }) {
      const session = await openSession();
      const bytes = new Uint8Array(8 * MIB).map((_, i) => (i * 7) % 251);
      await session.set("b", { bytes });
      equal(await session.get("b", { as: "bytes" }), bytes, "the bytes");
      const text = "ä€🦆x".repeat(MIB);
      await session.set("t", { text });
      check((await session.get("t", { as: "text" })) === text, "the text must be the same");
      await session.set("s", { stream: piecesOf(bytes.subarray(0, MIB), bytes.subarray(MIB)) });
      equal(await valueOf(session, "s == b, len(t)"), `(True, ${4 * MIB})`, "what Python sees");
    },
  },
  {
    name: "get refuses NaN, infinity and integers beyond 2^53 as JSON, and what JSON cannot express",
    async run({ openSession }) {
      const session = await openSession();
      for (const code of [
        "float('nan')",
        "[1, float('inf')]",
        "2**53 + 1",
        "{'a': -2**60}",
        "object()",
        "{1: 2}",
        "{3}",
        "b'x'",
      ]) {
        await run(session, `x = ${code}`);
        const error = await rejects(session.get("x"), SessionStateError, {
          code: "SESSION_STATE",
          sessionId: session.id,
        });
        like(error.message, /x/, `the message for ${code}`);
      }
      await run(session, "x = [2**53 - 1, 1 - 2**53]");
      equal(await session.get("x"), [2 ** 53 - 1, 1 - 2 ** 53], "the largest integers");
    },
  },
  {
    name: "get as text or bytes refuses values of other types",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "n = 1; t = 'x'; b = b'x'");
      await rejects(session.get("n", { as: "text" }), SessionStateError);
      await rejects(session.get("b", { as: "text" }), SessionStateError);
      await rejects(session.get("t", { as: "bytes" }), SessionStateError);
    },
  },
  {
    name: "get refuses what is larger than maxBytes, of which 0 is a value",
    async run({ openSession }) {
      const session = await openSession();
      await run(session, "t = 'abcd'; empty = ''");
      equal(await session.get("t", { as: "text", maxBytes: 4 }), "abcd", "the text");
      await rejects(session.get("t", { as: "text", maxBytes: 3 }), SessionStateError);
      await rejects(session.get("t", { as: "text", maxBytes: 0 }), SessionStateError);
      await rejects(session.get("t", { as: "json", maxBytes: 5 }), SessionStateError);
      equal(await session.get("empty", { as: "text", maxBytes: 0 }), "", "no text");
    },
  },
  {
    name: "a variable that does not exist is a VariableNotFoundError",
    async run({ openSession }) {
      const session = await openSession();
      const fields = { code: "VARIABLE_NOT_FOUND", variable: "nothing" };
      for (const as of ["json", "text", "bytes"] as const)
        await rejects(session.get("nothing", { as }), VariableNotFoundError, fields);
    },
  },
  {
    name: "names may be of any language",
    async run({ openSession }) {
      const session = await openSession();
      await session.set("größe", { json: 1 });
      equal(await session.get("größe"), 1, "the value");
      equal(await valueOf(session, "größe + 1"), "2", "what Python sees");
      equal((await session.inspect("größe"))?.repr?.text, "1", "the representation");
    },
  },
  {
    name: "get and set are not executions: they leave count and history alone",
    async run({ openSession }) {
      const session = await openSession();
      await session.set("x", { json: [1] });
      await session.get("x");
      matchesNothing(await session.history());
      equal((await session.info()).executionCount, 0, "the count");
    },
  },
];

function matchesNothing(history: readonly unknown[]): void {
  equal(history, [], "the history");
}
