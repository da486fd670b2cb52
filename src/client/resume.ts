// A resumable stream of events: reconnects after a lost connection and continues after the last event that was received.
//
// The server gets that event's id as the cursor, so no event is lost or delivered twice.

import type { ServerClient } from "./client.ts";
import type { StreamedEvent } from "./events.ts";
import { ServerProblem } from "./problem.ts";

/** Consecutive attempts, each after a longer pause. */
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 250;
/** Statuses of refusals that are temporary. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 503]);

export interface ResumeOptions {
  /** Whether an event of this type is the last one. */
  readonly isEnd: (type: string) => boolean;
  /** Called when a stream ended before the last event. Resolves with why there will be none; undefined: reconnect. */
  readonly whyOver: () => Promise<string | undefined>;
  readonly signal?: AbortSignal;
}

type Received = { readonly event: StreamedEvent } | { readonly lost: unknown } | { readonly why: string };

/** `first` is an open stream, `path` is where to reconnect. Throws the error of the last attempt. */
export async function* resumeEvents(
  client: ServerClient,
  path: string,
  first: AsyncIterable<StreamedEvent>,
  { isEnd, whyOver, signal }: ResumeOptions,
): AsyncGenerator<StreamedEvent> {
  const backoff = new ReconnectBackoff(client);
  let events: AsyncIterator<StreamedEvent> | undefined = first[Symbol.asyncIterator]();
  let cursor: string | undefined;
  let isOver = false;
  const receive = async (): Promise<Received> => {
    if (events === undefined) {
      const headers = cursor === undefined ? {} : { "last-event-id": cursor };
      const stream = await client.stream("GET", path, { headers, ...(signal && { signal }) });
      events = stream.events[Symbol.asyncIterator]();
    }
    const next = await events.next();
    if (next.done !== true) return { event: next.value };
    const why = isOver ? undefined : await whyOver();
    return why === undefined ? { lost: new Error("the server ended the connection, again and again") } : { why };
  };
  try {
    for (;;) {
      const received: Received = await receive().catch((error: unknown) => ({ lost: error }));
      if ("event" in received) {
        backoff.reset();
        cursor = received.event.id ?? cursor;
        isOver ||= isEnd(received.event.type);
        yield received.event;
        continue;
      }
      if (isOver) return;
      if ("why" in received) throw new Error(received.why);
      await backoff.wait(received.lost, signal);
      events = undefined;
    }
  } finally {
    await events?.return?.(); // closes the connection when the caller leaves the loop
  }
}

/** Pauses between attempts to reconnect, and gives up after a few. */
export class ReconnectBackoff {
  readonly #client: Pick<ServerClient, "warn">;
  #attempts = 0;

  constructor(client: Pick<ServerClient, "warn">) {
    this.#client = client;
  }

  /** The connection works: the next failure is the first one again. */
  reset(): void {
    this.#attempts = 0;
  }

  /** Resolves when it is time to retry. Throws the error if it is permanent or the attempts are used up. */
  async wait(error: unknown, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (error instanceof ServerProblem && !RETRYABLE.has(error.status)) throw error;
    if (this.#attempts === MAX_ATTEMPTS) throw error;
    if (this.#attempts === 0) this.#client.warn("the connection is lost: trying to resume");
    await delay(PAUSE_MS * this.#attempts, signal);
    this.#attempts += 1;
  }
}

function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", cancel);
      resolve();
    }, ms);
    signal?.addEventListener("abort", cancel, { once: true });
  });
}
