import { expect, test } from "vitest";
import { readEvents, type StreamedEvent } from "../../src/client/events.ts";

async function read(chunks: readonly Uint8Array[], maxEventCharacters?: number): Promise<StreamedEvent[]> {
  const source = async function* (): AsyncGenerator<Uint8Array> {
    yield* chunks;
  };
  const events: StreamedEvent[] = [];
  for await (const event of readEvents(source(), maxEventCharacters)) events.push(event);
  return events;
}

const STREAM = `: still here\n\nid: 1.0\nevent: output-delta\ndata: {"text":"é\\n\\n"}\n\nevent: server-end\ndata: {"type":"server-end"}\n\n`;
const EVENTS = [
  { id: "1.0", type: "output-delta", data: { text: "é\n\n" } },
  { id: undefined, type: "server-end", data: { type: "server-end" } },
];

test("events are the same wherever the bytes are split", async () => {
  const bytes = Buffer.from(STREAM);
  expect(await read([bytes])).toEqual(EVENTS);
  expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
  for (let at = 1; at < bytes.length; at += 1) {
    expect(await read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(EVENTS);
  }
});

test("an incomplete event is not delivered", async () => {
  expect(await read([Buffer.from('event: x\ndata: {"half"')])).toEqual([]);
});

test("data that is not JSON throws", async () => {
  await expect(read([Buffer.from("data: {\n\n")])).rejects.toThrow("JSON");
});

test("an event that exceeds the limit throws", async () => {
  const chunks = Array.from({ length: 11 }, (_, index) => Buffer.from(index === 0 ? "data: " : "x".repeat(100)));
  await expect(read(chunks, 999)).rejects.toThrow("an event without an end");
  const small = Buffer.from(`data: "${"x".repeat(900)}"\n\n`.repeat(10));
  expect(await read([small], 999)).toHaveLength(10);
});
