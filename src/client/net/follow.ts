// A resumable stream of events: reconnects after a lost connection, and continues after the last event that was received.
//
// The server gets the id of that event as the cursor, so no event is lost or delivered twice. Pauses start again after a new event, and
// where a stream was cut that had been idle for a while: a server that accepts connections and says nothing is given up in the end.

import type { Signal } from "../../api/web-types.ts";
import type { Connection } from "./connection.ts";
import { connectionError, TemporaryFailure } from "./failure.ts";
import { openEvents, type EventStream, type StreamedEvent } from "./event-stream.ts";

export interface FollowOptions {
  /** Where to reconnect. */
  readonly path: string;
  /** Where to begin. Default: at the beginning. */
  readonly after?: string | undefined;
  readonly signal?: Signal | undefined;
  /** A stream that is open already, from the beginning. */
  readonly first?: EventStream | undefined;
  /** Whether an event of this type is the last one. */
  readonly isEnd: (type: string) => boolean;
  /** Called when a stream ended before its last event. Resolves to whether there will be none; throws why. */
  readonly isOver: () => Promise<boolean>;
}

/** Throws final errors. Leaving the loop closes the connection. */
export async function* follow(
  connection: Connection,
  { path, after, signal, first, isEnd, isOver }: FollowOptions,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const backoff = connection.backoff();
  let stream = first;
  let cursor = after;
  const abort = (): void => stream?.close();
  for (;;) {
    let failure: TemporaryFailure;
    const beganAt = connection.clock.now();
    signal?.addEventListener("abort", abort, { once: true }); // `first` does not know the signal
    try {
      stream ??= await openEvents(connection, "GET", path, {
        headers: cursor === undefined ? {} : { "last-event-id": cursor },
        signal,
      });
      for await (const event of stream.read()) {
        if (event.type === "server-end") break;
        if (event.id !== undefined) {
          cursor = event.id;
          backoff.reset();
        }
        yield event;
        if (isEnd(event.type)) return;
      }
      if (await isOver()) return;
      failure = new TemporaryFailure(
        connectionError(connection.url, `The server at ${connection.url} ended the stream before its last event`),
      );
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TemporaryFailure)) throw error;
      failure = error;
      if (!error.isSilence && (await connection.wasWaiting(error, beganAt, signal))) backoff.reset();
    } finally {
      signal?.removeEventListener("abort", abort);
      stream?.close();
      stream = undefined;
    }
    await backoff.wait(failure, [connection.closing, ...(signal === undefined ? [] : [signal])]);
  }
}
