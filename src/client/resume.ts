// The events of something that a server runs, as one stream, whatever becomes of the connections.
//
// Where one breaks, the server is asked on the next for what comes after the last event that was seen: nothing is heard twice, and
// nothing is left out.

import { Losses } from "./reconnect-backoff.ts";
import type { ServerClient } from "./client.ts";
import type { StreamedEvent } from "./events.ts";

export interface LastingOptions {
  /** Whether this is the event that tells of the end. */
  readonly isEnd: (type: string) => boolean;
  /** Asked where a stream ended without it. Undefined: it goes on; else why there will be none. */
  readonly whyOver: () => Promise<string | undefined>;
  readonly signal?: AbortSignal;
}

type Heard = { readonly event: StreamedEvent } | { readonly lost: unknown } | { readonly why: string };

/** `first` is a stream that is open already, `path` where the next ones are. Throws what the last attempt threw. */
export async function* lastingEvents(
  client: ServerClient,
  path: string,
  first: AsyncIterable<StreamedEvent>,
  { isEnd, whyOver, signal }: LastingOptions,
): AsyncGenerator<StreamedEvent> {
  const losses = new Losses();
  let events: AsyncIterator<StreamedEvent> | undefined = first[Symbol.asyncIterator]();
  let cursor: string | undefined;
  let isOver = false;
  const hear = async (): Promise<Heard> => {
    events ??= await attach(client, path, cursor, signal);
    const next = await events.next();
    if (next.done !== true) return { event: next.value };
    const why = isOver ? undefined : await whyOver();
    return why === undefined ? { lost: new Error("the server ended the connection, again and again") } : { why };
  };
  try {
    for (;;) {
      const heard: Heard = await hear().catch((error: unknown) => ({ lost: error }));
      if ("event" in heard) {
        losses.forget();
        cursor = heard.event.id ?? cursor;
        isOver ||= isEnd(heard.event.type);
        yield heard.event;
        continue;
      }
      if (isOver) return;
      if ("why" in heard) throw new Error(heard.why);
      await losses.wait(heard.lost, signal);
      events = undefined;
    }
  } finally {
    await events?.return?.(); // or the server goes on telling somebody who has left
  }
}

async function attach(
  client: ServerClient,
  path: string,
  cursor: string | undefined,
  signal: AbortSignal | undefined,
): Promise<AsyncIterator<StreamedEvent>> {
  const headers = cursor === undefined ? {} : { "last-event-id": cursor };
  const { events } = await client.stream("GET", path, { headers, ...(signal && { signal }) });
  return events[Symbol.asyncIterator]();
}
