// Server-sent events whose data is JSON: each as an object, in order, until the stream ends or sends `[DONE]`.

import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { UnreadableEvent, type Fields } from "./wire-protocol.ts";

export const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;

/** Throws UnreadableEvent. An event that the end of the stream cuts off is dropped. `onBytes` is called for every chunk. */
export async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Fields, void, void> {
  const decoder = new StringDecoder("utf8");
  let events: string[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: ({ data }) => void events.push(data),
    onError: ({ type }) => {
      if (type !== "max-buffer-size-exceeded") return;
      throw new UnreadableEvent(`an event has more than ${MAX_EVENT_CHARACTERS} characters`);
    },
  });
  for await (const chunk of chunks) {
    onBytes(chunk.byteLength);
    parser.feed(decoder.write(chunk));
    for (const data of events) {
      if (data === "[DONE]") return;
      yield toObject(data);
    }
    events = [];
  }
}

/** Throws UnreadableEvent. */
export function toObject(data: string): Fields {
  try {
    const event: unknown = JSON.parse(data);
    if (typeof event === "object" && event !== null) return event as Fields;
  } catch {
    // Reported below, without the parser's own message.
  }
  throw new UnreadableEvent(`an event is no JSON object: ${data.slice(0, 1000)}`);
}
