// What executions, tasks and runs have in common: they are awaited for a result and iterated for events, at any time and any number of times.
//
// Awaiting asks the server for the end, again and again, each time for half a minute at most: a proxy cuts nothing, and a lost response is
// asked for again. Every iteration is a stream of its own from the beginning, as fast as its reader. A failure that nobody observes raises
// nothing.

import type { Signal } from "../../api/web-types.ts";
import type { Check } from "../shapes/check.ts";
import type { EventStream, StreamedEvent } from "../net/event-stream.ts";
import { notOurs } from "../net/failure.ts";
import { follow, type FollowOptions } from "../net/follow.ts";
import type { Requests } from "../net/requests.ts";

/** Less than the silence after which a connection counts as broken. */
export const WAIT_MS = 30_000;

export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/** A kind of work, as the server has it. */
export interface WorkKind<Result, Event, View> {
  /** With the id: `/v1/tasks/t1`. Undefined: no server can have this id. */
  readonly path: string | undefined;
  /** For an id that no server can have. */
  readonly notFound: () => Error;
  readonly view: Check<View>;
  /** Undefined: it has not ended. */
  outcomeOf(view: View): Outcome<Result> | undefined;
  readonly event: Check<Event> & { readonly tags: readonly string[] };
  /** Types of last events. */
  readonly ends: ReadonlySet<string>;
  /** Whether it may reject where no event tells an error. */
  readonly mayReject: boolean;
  /** The outcome that an event tells, if it tells one. */
  outcomeIn(event: StreamedEvent): Outcome<Result> | undefined;
}

/** What callers get. Everything else is in the engine, which they cannot reach. */
export abstract class Work<Result, Event> implements Promise<Result>, AsyncIterable<Event> {
  abstract readonly [Symbol.toStringTag]: string;
  readonly #engine: Pick<Engine<Result, Event, never>, "outcome" | "events">;

  constructor(engine: Pick<Engine<Result, Event, never>, "outcome" | "events">) {
    this.#engine = engine;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<A = Result, B = never>(
    onResult?: ((result: Result) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#engine.outcome().then(onResult, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Result | B> {
    return this.#engine.outcome().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Result> {
    return this.#engine.outcome().finally(onEnd);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    return this.#engine.events();
  }
}

export class Engine<Result, Event, View> {
  readonly requests: Requests;
  readonly #kind: WorkKind<Result, Event, View>;
  /** Rejects where the server refused to start it. */
  #accepted: Promise<unknown> = Promise.resolve();
  /** The response to the start, for whoever reads first. */
  #first: EventStream | undefined;
  #isObserved = false;
  #isSought = false;
  /** Aborted when the outcome is known. */
  readonly #known = new AbortController();
  readonly #result: Promise<Result>;
  #settle: (outcome: Outcome<Result>) => void = () => {};

  constructor(requests: Requests, kind: WorkKind<Result, Event, View>) {
    this.requests = requests;
    this.#kind = kind;
    this.#result = new Promise<Result>((resolve, reject) => {
      this.#settle = (outcome) => {
        if ("result" in outcome) resolve(outcome.result);
        else reject(outcome.error);
        this.#known.abort();
      };
    });
    this.#result.catch(() => {});
  }

  /** From now on somebody waits for it. */
  outcome(): Promise<Result> {
    this.#isObserved = true;
    if (!this.#isSought) {
      this.#isSought = true;
      this.#seek().then(this.#settle, (error: unknown) => this.#settle({ error }));
    }
    return this.#result;
  }

  events(): AsyncGenerator<Event, void, undefined> {
    this.#isObserved = true;
    const left = new AbortController();
    return leavingAtOnce(this.#read(left.signal), left);
  }

  /** Called once, by who starts it. `start` gets whether the response should be a stream of events. */
  begin(start: (isObserved: () => boolean) => Promise<EventStream | undefined>): void {
    this.#accepted = start(() => this.#isObserved).then(
      (first) => void (this.#first = first),
      (error: unknown) => {
        this.#settle({ error });
        throw error;
      },
    );
    this.#accepted.catch(() => {});
  }

  /** Resolves to where the server has it, once it has it. */
  async path(): Promise<string> {
    await this.#accepted;
    if (this.#kind.path === undefined) throw this.#kind.notFound();
    return this.#kind.path;
  }

  /** Aborting the signal cancels it, as long as its outcome is not known. It is awaited, so that nothing stays on the signal after its end. */
  cancelWith(signal: Signal, cancel: () => Promise<void>): void {
    this.outcome().catch(() => {});
    const onAbort = (): void => void cancel().catch(() => {});
    signal.addEventListener("abort", onAbort, { once: true });
    this.#known.signal.addEventListener("abort", () => signal.removeEventListener("abort", onAbort), { once: true });
  }

  async view(waitMs?: number, signal?: Signal): Promise<View> {
    const path = await this.path();
    return this.requests.json("GET", path, this.#kind.view, {
      query: { waitMs },
      signal,
      isLarge: true,
      isQueued: waitMs !== undefined,
    });
  }

  outcomeOf(view: View): Outcome<Result> | undefined {
    return this.#kind.outcomeOf(view);
  }

  async *#read(left: AbortSignal): AsyncGenerator<Event, void, undefined> {
    try {
      yield* this.#follow(left);
    } catch (error) {
      if (!left.aborted) throw error;
    }
  }

  async *#follow(signal: AbortSignal): AsyncGenerator<Event, void, undefined> {
    const path = await this.path();
    yield* this.#events({
      path,
      signal,
      first: this.#takeFirst(),
      isOver: async () => this.#report(this.outcomeOf(await this.view())),
    });
    if (this.#kind.mayReject) await this.outcome();
  }

  /** From a cursor. Ends with the work, whatever its outcome is. */
  async *follow(after: string, signal: Signal | undefined): AsyncGenerator<Event, void, undefined> {
    const path = await this.path();
    const isOver = async (): Promise<boolean> => this.outcomeOf(await this.view(undefined, signal)) !== undefined;
    yield* this.#events({ path, after, signal, isOver });
  }

  async *#events(options: Omit<FollowOptions, "isEnd">): AsyncGenerator<Event, void, undefined> {
    const { ends, event: check } = this.#kind;
    const events = follow(this.requests.connection, {
      ...options,
      path: `${options.path}/events`,
      isEnd: (type) => ends.has(type),
    });
    for await (const event of events) {
      this.#report(this.#kind.outcomeIn(event));
      if (!check.tags.includes(event.type)) continue;
      if (!check(event.data)) throw notOurs(this.requests.connection.url, `it sends an invalid '${event.type}'`);
      yield event.data;
    }
  }

  async #seek(): Promise<Outcome<Result>> {
    await this.path();
    const first = this.#takeFirst();
    const read = first && (await this.#readToEnd(first));
    if (read !== undefined) return read;
    for (;;) {
      const outcome = this.outcomeOf(await this.view(WAIT_MS, this.#known.signal));
      if (outcome !== undefined) return outcome;
    }
  }

  /** Undefined: the connection was lost, or there is much before the end. */
  async #readToEnd(first: EventStream): Promise<Outcome<Result> | undefined> {
    let left = MAX_SKIPPED_EVENTS;
    try {
      for await (const event of first.read()) {
        const outcome = this.#kind.outcomeIn(event);
        left -= 1;
        if (outcome !== undefined || left === 0) return outcome;
      }
    } catch {
      this.requests.connection.closing.throwIfAborted();
    }
    return undefined;
  }

  #takeFirst(): EventStream | undefined {
    const first = this.#first;
    this.#first = undefined;
    return first;
  }

  /** Whether there is an outcome. Throws it where it is an error. */
  #report(outcome: Outcome<Result> | undefined): boolean {
    if (outcome === undefined) return false;
    this.#settle(outcome);
    if ("error" in outcome) throw outcome.error;
    return true;
  }
}

/** Events that are read only for their end. Of more, the server is asked for the end alone. */
const MAX_SKIPPED_EVENTS = 200;

/** Closes the connection when the reader leaves, also while it waits for an event: a generator alone would wait for that event first. */
function leavingAtOnce<Event>(
  events: AsyncGenerator<Event, void, undefined>,
  left: AbortController,
): AsyncGenerator<Event, void, undefined> {
  const leave = events.return.bind(events);
  return Object.assign(events, {
    return: (value: void | PromiseLike<void>) => {
      left.abort();
      return leave(value);
    },
  });
}
