import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readEvents } from "../../../../src/backends/providers/protocols/event-stream.ts";
import { UnreadableEvent } from "../../../../src/backends/providers/protocols/wire-protocol.ts";

test("events are the same however the bytes are split", async () => {
  const text =
    'event: a\ndata: {"n":1}\n\n: a comment\r\n\r\ndata:{"n":\r\ndata: "wörld 🌍"}\r\n\r\nid: 7\ndata: {"n":3}\n\ndata: [DONE]\n\ndata: {"n":4}\n\n';
  const bytes = Buffer.from(text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 20 }), async (cuts) => {
      const ends = [...new Set([...cuts, bytes.length])].sort((a, b) => a - b);
      const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      expect(await collect(chunks)).toEqual([{ n: 1 }, { n: "wörld 🌍" }, { n: 3 }]);
    }),
  );
});

test("an event that the end of the stream cuts off is dropped", async () => {
  expect(await collect([Buffer.from('data: {"n":1}\n\ndata: {"n":2}')])).toEqual([{ n: 1 }]);
});

test.each(["data: {\n\n", "data: 3\n\n", "data: null\n\n", 'data: "text"\n\n'])("%j is unreadable", async (text) => {
  await expect(collect([Buffer.from(text)])).rejects.toThrow(UnreadableEvent);
});

test("an event without an end is not buffered for ever", async () => {
  const piece = Buffer.alloc(2 * 1024 * 1024, "x");
  await expect(collect([Buffer.from("data: "), piece, piece, piece, piece, piece])).rejects.toThrow(
    "an event has more",
  );
});

test("every chunk is counted, and leaving ends the source", async () => {
  let isLeft = false;
  let bytes = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.from("data: {}\n\n");
    } finally {
      isLeft = true;
    }
  }
  for await (const _ of readEvents(source(), (more) => void (bytes += more))) break;
  expect([bytes, isLeft]).toEqual([10, true]);
});

async function collect(chunks: readonly Uint8Array[]): Promise<unknown[]> {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const events: unknown[] = [];
  for await (const event of readEvents(source(), () => {})) events.push(event);
  return events;
}
