import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FrameReader } from "../../src/kernel/frame-reader.ts";
import { MAX_LINE_BYTES } from "../../src/protocol/worker/limits.ts";

interface Heard {
  readonly messages: unknown[];
  readonly violations: string[];
}

function read(chunks: readonly Buffer[]): Heard {
  const heard: Heard = { messages: [], violations: [] };
  const reader = new FrameReader({
    onMessage: (received) => heard.messages.push(received),
    onViolation: (why) => heard.violations.push(why),
    isWanted: (header) => header !== undefined && header.id !== "unwanted",
    onChunk: () => () => {},
  });
  for (const chunk of chunks) reader.push(chunk, chunk.length);
  return heard;
}

/** Splits bytes at these offsets. */
function cut(data: Buffer, places: readonly number[]): Buffer[] {
  const edges = [0, ...places.map((place) => place % (data.length + 1)), data.length].toSorted((a, b) => a - b);
  return edges.slice(1).map((edge, index) => data.subarray(edges[index], edge));
}

const message = fc.record({
  type: fc.constant("call"),
  id: fc.constant("e1"),
  text: fc.string({ unit: "binary" }),
  n: fc.integer(),
});

test("FrameReader reads messages in order, however their bytes are split", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(message, fc.boolean()), { maxLength: 20 }),
      fc.array(fc.nat(), { maxLength: 30 }),
      (sent, places) => {
        const data = Buffer.concat(
          sent.map(([body, asPayload]) => {
            const json = JSON.stringify(body);
            const header = `{"type":"call","id":"e1","bytes":${Buffer.byteLength(json)}}\n`;
            return Buffer.from(asPayload ? header + json : `${json}\n`);
          }),
        );
        // What is sent as JSON arrives as JSON: -0 becomes 0.
        const expected = sent.map(([body]) => JSON.parse(JSON.stringify(body)) as unknown);
        expect(read(cut(data, places))).toEqual({ messages: expected, violations: [] });
      },
    ),
  );
});

test("FrameReader passes on raw bytes in order, between messages", () => {
  const part = fc.oneof(message, fc.uint8Array({ minLength: 1, maxLength: 200 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), fc.array(fc.nat(), { maxLength: 30 }), (sent, places) => {
      const frames = sent.map((each, at) => {
        if (!(each instanceof Uint8Array)) return Buffer.from(`${JSON.stringify(each)}\n`);
        return Buffer.concat([Buffer.from(`{"type":"chunk","id":"a","at":${at},"bytes":${each.length}}\n`), each]);
      });
      const heard: unknown[] = [];
      const reader = new FrameReader({
        onMessage: (received) => heard.push(received),
        onViolation: (why) => expect.fail(why),
        isWanted: () => true,
        onChunk: ({ id, at, bytes }) => {
          const whole = { id, at, bytes, data: Buffer.alloc(0) };
          heard.push(whole);
          return (piece) => void (whole.data = Buffer.concat([whole.data, piece]));
        },
      });
      for (const chunk of cut(Buffer.concat(frames), places)) reader.push(chunk, chunk.length);
      const expected = sent.map((each, at) =>
        each instanceof Uint8Array
          ? { id: "a", at, bytes: each.length, data: Buffer.from(each) }
          : (JSON.parse(JSON.stringify(each)) as unknown),
      );
      expect(heard).toEqual(expected);
    }),
  );
});

test("FrameReader turns arbitrary bytes into messages or one violation, and never throws", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }), (chunks) => {
      expect(read(chunks.map((chunk) => Buffer.from(chunk))).violations.length).toBeLessThanOrEqual(1);
    }),
  );
});

test.each([
  ["a line that is too long", "x".repeat(MAX_LINE_BYTES + 1)],
  ["a long line that ends", `"${"x".repeat(MAX_LINE_BYTES)}"\n`],
  ["an array", "[1]\n"],
  ["a number", "1\n"],
  ["null", "null\n"],
  ["no JSON", "\xff\xfe\n"],
  ["a payload that is too long", '{"bytes":33554433}\n'],
  ["a negative payload", '{"bytes":-1}\n'],
  ["a payload of half a byte", '{"bytes":0.5}\n'],
  ["a payload of text", '{"bytes":"9"}\n'],
  ["a payload that is no JSON", '{"type":"status","id":"e1","bytes":2}\n{]'],
  ["a payload that is an array", '{"type":"status","id":"e1","bytes":2}\n[]'],
  ["a payload of another type than its header", '{"type":"status","id":"e1","bytes":24}\n{"type":"call","id":"e1"}'],
  ["a payload with another id than its header", '{"type":"status","id":"e1","bytes":26}\n{"type":"status","id":"e2"}'],
])("%s is a violation, which is reported once and ends the reading", (_, text) => {
  const heard = read([Buffer.from(text, "latin1"), Buffer.from('{"type":"status"}\n')]);
  expect(heard.messages).toEqual([]);
  expect(heard.violations).toHaveLength(1);
});

test("FrameReader skips a payload that is not wanted, whatever it is, and reads on behind it", () => {
  const header = '{"type":"status","id":"unwanted","bytes":9}\n';
  const nobody = '{"bytes":2}\n';
  const data = Buffer.from(`${header}[[[[\n\n\n"{${nobody}{]{"type":"status","id":"e1"}\n`);
  for (let size = 1; size < data.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(data.length / size) }, (_, at) => at * size);
    expect(read(cut(data, pieces))).toEqual({ messages: [{ type: "status", id: "e1" }], violations: [] });
  }
});
