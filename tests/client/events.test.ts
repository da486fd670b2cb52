import { expect, test } from "vitest";
import { readEvents, type StreamedEvent } from "../../src/client/events.ts";

async function read(chunks: readonly Uint8Array[]): Promise<StreamedEvent[]> {
  const source = async function* (): AsyncGenerator<Uint8Array> {
    yield* chunks;
  };
  const events: StreamedEvent[] = [];
  for await (const event of readEvents(source())) events.push(event);
  return events;
}

const STREAM = `: still here\n\nid: 1.0\nevent: output-delta\ndata: {"text":"é\\n\\n"}\n\nevent: server-end\ndata: {"type":"server-end"}\n\n`;
const EVENTS = [
  { id: "1.0", type: "output-delta", data: { text: "é\n\n" } },
  { id: undefined, type: "server-end", data: { type: "server-end" } },
];

test("events are the same wherever the bytes are cut", async () => {
  const bytes = Buffer.from(STREAM);
  expect(await read([bytes])).toEqual(EVENTS);
  expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
  for (let at = 1; at < bytes.length; at += 1) {
    expect(await read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(EVENTS);
  }
});

test("an event without its end is not given", async () => {
  expect(await read([Buffer.from('event: x\ndata: {"half"')])).toEqual([]);
});

test("data that is not JSON throws", async () => {
  await expect(read([Buffer.from("data: {\n\n")])).rejects.toThrow("JSON");
});
