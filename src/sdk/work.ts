// Something that was started and can be awaited and iterated: the base of executions, tasks and runs.
//
// It is a thenable, so it must never be resolved by a promise: awaiting would unwrap it. Where starting takes time, the work is held as a
// promise of what was started.

/** What was started, as the runtime has it. */
export interface Started<Result, Event> extends AsyncIterable<Event> {
  readonly result: Promise<Result>;
}

/** What was started. Rejects where nothing was. Not a method: callers must not reach it. */
export let innerOf: <Inner extends Started<Result, Event>, Result, Event>(
  work: Work<Inner, Result, Event>,
) => Inner | Promise<Inner>;

export abstract class Work<Inner extends Started<Result, Event>, Result, Event>
  implements Promise<Result>, AsyncIterable<Event>
{
  abstract readonly [Symbol.toStringTag]: string;
  readonly #inner: Inner | Promise<Inner>;

  constructor(inner: Inner | Promise<Inner>) {
    this.#inner = inner;
    if (inner instanceof Promise) inner.catch(() => {}); // a failure that nobody observes raises nothing
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting it is what it is for
  then<Then = Result, Catch = never>(
    onResult?: ((result: Result) => Then | PromiseLike<Then>) | null,
    onError?: ((error: unknown) => Catch | PromiseLike<Catch>) | null,
  ): Promise<Then | Catch> {
    return this.#result().then(onResult, onError);
  }

  catch<Catch = never>(onError?: ((error: unknown) => Catch | PromiseLike<Catch>) | null): Promise<Result | Catch> {
    return this.#result().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Result> {
    return this.#result().finally(onEnd);
  }

  /** Its events from the first one on. Throws where the work could not be done at all. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const inner = await this.#inner;
    yield* inner;
    await inner.result;
  }

  static {
    innerOf = (work) => work.#inner;
  }

  #result(): Promise<Result> {
    return this.#inner instanceof Promise ? this.#inner.then(({ result }) => result) : this.#inner.result;
  }
}
