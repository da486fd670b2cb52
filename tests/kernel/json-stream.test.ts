import * as fc from "fast-check";
import { expect, test } from "vitest";
import { JsonStream } from "../../src/kernel/json-stream.ts";
import { MAX_DEPTH, MAX_PARTS } from "../../src/protocol/worker/limits.ts";
import { parseJSON } from "../../src/util/parse-json.ts";

/** Undefined: it was refused. */
function parse(data: Buffer, places: readonly number[]): unknown {
  const stream = new JsonStream();
  const edges = [0, ...places.map((place) => place % (data.length + 1)), data.length].toSorted((a, b) => a - b);
  for (const [index, edge] of edges.slice(1).entries()) {
    const piece = Buffer.from(data.subarray(edges[index], edge));
    const isFine = stream.push(piece);
    piece.fill(0); // only used during the call
    if (!isFine) return undefined;
  }
  return stream.end();
}

const places = fc.array(fc.nat(), { maxLength: 40 });
const key = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "constructor", "toString", "0", ""));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("\\", '"', "\n", "é", "😀", "\uD800", "x", "\u0000") }),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.integer(),
    fc.constantFrom(true, false, null),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(key, tie("value"), { maxKeys: 5 }),
  ),
})).value;

test("JsonStream gives what JSON.parse gives, however the bytes are split", () => {
  fc.assert(
    fc.property(value, fc.boolean(), fc.nat(2), places, (sent, isAscii, indent, cuts) => {
      const json = JSON.stringify(sent, undefined, indent);
      const text = isAscii
        ? json.replaceAll(/[^ -~\n]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
        : json;
      expect(parse(Buffer.from(text), cuts)).toEqual(JSON.parse(text));
    }),
  );
});

test("JsonStream refuses what JSON.parse refuses", () => {
  const token = fc.constantFrom(
    ...Array.from('{}[],:"\\ue1-.+0 \n\u0001'),
    '"a"',
    "true",
    "null",
    "1.5e3",
    "[]",
    "{}",
    '"a":',
    "[1,2]",
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 12 }), places, (tokens, cuts) => {
      const text = tokens.join("");
      expect(parse(Buffer.from(text), cuts)).toEqual(parseJSON(text));
    }),
    { numRuns: 3000 },
  );
});

test("JsonStream refuses what is nested too deeply or has too many values, as soon as it comes", () => {
  const nested = (depth: number): Buffer => Buffer.from("[".repeat(depth) + "]".repeat(depth));
  expect(parse(nested(MAX_DEPTH), [])).toBeInstanceOf(Array);
  expect(new JsonStream().push(nested(MAX_DEPTH + 1).subarray(0, MAX_DEPTH + 1))).toBe(false);
  const many = (count: number): Buffer => Buffer.from(`[${"1,".repeat(count - 1)}1]`);
  expect(parse(many(MAX_PARTS), [])).toHaveLength(MAX_PARTS);
  expect(new JsonStream().push(many(MAX_PARTS + 1).subarray(0, -1))).toBe(false);
  expect(new JsonStream().push(Buffer.alloc(2000, "1"))).toBe(false);
});
