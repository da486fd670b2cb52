// Server-sent events, parsed from the bytes of a response as the reader takes them.

import { createParser, type EventSourceMessage } from "eventsource-parser";
import { parseJSON } from "../../util/parse-json.ts";
import type { Attempt, Connection, Exchange } from "./connection.ts";
import { notOurs } from "./failure.ts";
import { readChunks } from "./read-body.ts";

const EVENTS = "text/event-stream";
/** More than the largest result. */
const MAX_EVENT_CHARACTERS = 256 * 1024 * 1024;

export interface StreamedEvent {
  /** The cursor that resumes the stream after this event; undefined where the server sent none. */
  readonly id: string | undefined;
  readonly type: string;
  /** Parsed JSON that has not been checked. */
  readonly data: unknown;
}

/** An open stream. Read it once, or close it. */
export interface EventStream {
  readonly headers: Headers;
  /** Throws what an attempt throws. Ends where the server ends the response. */
  read(): AsyncGenerator<StreamedEvent, void, undefined>;
  close(): void;
}

/** One attempt. */
export async function openEvents(
  connection: Connection,
  method: string,
  path: string,
  { headers, ...attempt }: Attempt = {},
): Promise<EventStream> {
  const exchange = await connection.attempt(method, path, { ...attempt, headers: { ...headers, accept: EVENTS } });
  const { response, close } = exchange;
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith(EVENTS)) {
    close();
    throw notOurs(connection.url, `it sent ${type.slice(0, 100) || "nothing"} in place of events`);
  }
  return { headers: response.headers, read: () => readEvents(connection, exchange), close };
}

/** Skips comments. */
async function* readEvents(
  connection: Connection,
  { response, toFailure, close }: Exchange,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const decoder = new TextDecoder();
  let messages: EventSourceMessage[] = [];
  const tooLong = notOurs(connection.url, "it sends an event without an end");
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw tooLong;
    },
  });
  const chunks = readChunks(response, connection.clock);
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((error: unknown) => {
        throw toFailure(error);
      });
      if (done === true) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const received = messages;
      messages = [];
      for (const { id, event = "message", data } of received) {
        const parsed = parseJSON(data);
        if (parsed === undefined) throw notOurs(connection.url, "it sends events that are not JSON");
        yield { id, type: event, data: parsed };
      }
    }
  } finally {
    close();
  }
}
