// A story as server-sent events: each event is one message whose `id` is the reader's place, so that a browser's EventSource goes on by
// itself after a lost connection.
//
// What comes next is asked for when the client has taken what came before, so one that reads slowly costs no memory; a comment now and
// then shows both ends that the other is there.

import { Turns } from "../../../util/async/event-loop-yield.ts";
import type { Door } from "../../context/server-context.ts";

export interface Message {
  /** The place after it. */
  readonly id?: string;
  readonly event: { readonly type: string };
}

const BEAT_MS = 15_000;
const BEAT = ": still here\n\n";
const HEADERS = { "content-type": "text/event-stream", "x-accel-buffering": "no" };

/**
 * `open` is called when the first event is asked for: the answer to a `HEAD`, or to a client that has gone by then, is never read and never
 * ended. It is given a signal that is aborted when the client has gone, or the server has to end.
 */
export function streamEvents(
  open: (signal: AbortSignal) => AsyncIterable<Message>,
  { ending }: Pick<Door, "ending">,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  const turns = new Turns();
  let messages: AsyncIterator<Message> | undefined;
  let beat: NodeJS.Timeout | undefined;
  const begin = (controller: ReadableStreamDefaultController<Uint8Array>): AsyncIterator<Message> => {
    beat = setInterval(() => {
      // Otherwise something waits to be taken already, which shows as much.
      if (controller.desiredSize === 0) controller.enqueue(encoder.encode(BEAT));
    }, BEAT_MS).unref();
    return open(AbortSignal.any([gone.signal, ending]))[Symbol.asyncIterator]();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          messages ??= begin(controller);
          await turns.next();
          const next = await messages.next();
          if (next.done !== true) {
            const bytes = encoder.encode(toText(next.value));
            turns.did(bytes.length);
            return controller.enqueue(bytes);
          }
          clearInterval(beat);
          if (ending.aborted) controller.enqueue(encoder.encode(toText({ event: { type: "server-end" } })));
          controller.close();
        } catch (error) {
          clearInterval(beat);
          throw error;
        }
      },
      cancel: () => {
        clearInterval(beat);
        gone.abort();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...HEADERS, ...headers } });
}

/** JSON has no line ends in it, so the data is one line. */
function toText({ id, event }: Message): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
