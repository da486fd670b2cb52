// Server-sent events. The `id` of each event is the reader's cursor, so a browser's EventSource resumes by itself.
//
// The next event is read when the client has taken the one before: a slow reader costs no memory. A periodic comment shows both ends that
// the other is alive.

import { EventLoopYield } from "../../../util/async/event-loop-yield.ts";
import type { FollowOptions, Positioned } from "../../../util/async/replay-log.ts";
import type { ServerContext } from "../../context/server-context.ts";
import type { RouteRequest } from "../route.ts";

export interface EventMessage {
  /** The cursor after this event. */
  readonly id?: string;
  readonly event: { readonly type: string };
  /** Default: the event itself. */
  readonly data?: unknown;
}

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ": still here\n\n";
const HEADERS = { "content-type": "text/event-stream", "x-accel-buffering": "no" };

/** An execution, a task or a run. */
interface Followable {
  follow(options: FollowOptions): AsyncIterable<Positioned<EventMessage["event"]>>;
}

interface StreamOptions {
  /** Default: from the beginning. */
  readonly after?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Resolves, when the source has ended, with an event that is no part of it. */
  readonly finalEvent?: () => Promise<EventMessage["event"] | undefined>;
}

/** Throws a RangeError for an invalid cursor. */
export function streamFollowed(
  source: Followable,
  context: Pick<ServerContext, "closing">,
  { after, headers, finalEvent }: StreamOptions = {},
): Response {
  const from = after === undefined ? {} : { after };
  const toMessages = async function* (signal: AbortSignal): AsyncGenerator<EventMessage> {
    for await (const { event, cursor } of source.follow({ ...from, signal })) yield { id: cursor, event };
    const event = signal.aborted ? undefined : await finalEvent?.();
    if (event !== undefined) yield { event };
  };
  if (after !== undefined) source.follow({ after }); // throws now, not when the stream is read
  return streamEvents(toMessages, context, headers);
}

/** The cursor of a client that resumes. */
export function toCursor({
  request,
  query,
}: RouteRequest<{ readonly after?: string | undefined }>): string | undefined {
  return query.after ?? request.headers.get("last-event-id") ?? undefined;
}

/**
 * `open` is called when the client reads the first event: the response to a `HEAD`, or to a client that has disconnected by then, is never
 * read. Its signal is aborted when the client disconnects or the server closes.
 */
export function streamEvents(
  open: (signal: AbortSignal) => AsyncIterable<EventMessage>,
  { closing }: Pick<ServerContext, "closing">,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const disconnected = new AbortController();
  const encoder = new TextEncoder();
  const loop = new EventLoopYield();
  let messages: AsyncIterator<EventMessage> | undefined;
  let heartbeat: NodeJS.Timeout | undefined;
  const begin = (controller: ReadableStreamDefaultController<Uint8Array>): AsyncIterator<EventMessage> => {
    heartbeat = setInterval(() => {
      // Unread data is a sign of life, too.
      if (controller.desiredSize === 0) controller.enqueue(encoder.encode(HEARTBEAT));
    }, HEARTBEAT_MS).unref();
    return open(AbortSignal.any([disconnected.signal, closing]))[Symbol.asyncIterator]();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          messages ??= begin(controller);
          await loop.yieldIfDue();
          const next = await messages.next();
          if (next.done !== true) {
            const bytes = encoder.encode(toText(next.value));
            loop.add(bytes.length);
            return controller.enqueue(bytes);
          }
          clearInterval(heartbeat);
          if (closing.aborted) controller.enqueue(encoder.encode(toText({ event: { type: "server-end" } })));
          controller.close();
        } catch (error) {
          clearInterval(heartbeat);
          throw error;
        }
      },
      cancel: () => {
        clearInterval(heartbeat);
        disconnected.abort();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...HEADERS, ...headers } });
}

/** JSON contains no line breaks, so `data` is one line. */
function toText({ id, event, data = event }: EventMessage): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
