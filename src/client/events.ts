// Server-sent events, parsed from the bytes of a response.

import { createParser, type EventSourceMessage } from "eventsource-parser";

export interface StreamedEvent {
  /** The cursor that resumes the stream after this event; undefined where the server sent none. */
  readonly id: string | undefined;
  readonly type: string;
  /** Parsed JSON that has not been validated. */
  readonly data: unknown;
}

/** More than the largest result. */
const MAX_EVENT_CHARACTERS = 512 * 1024 * 1024;

/** Skips comments. Throws on data that is not JSON and on an event that exceeds the limit. */
export async function* readEvents(
  bytes: AsyncIterable<Uint8Array>,
  maxEventCharacters = MAX_EVENT_CHARACTERS,
): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let messages: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    maxBufferSize: maxEventCharacters,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new Error("The server sends an event without an end");
    },
  });
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const received = messages;
    messages = [];
    for (const { id, event = "message", data } of received) {
      yield { id, type: event, data: JSON.parse(data) as unknown };
    }
  }
}
