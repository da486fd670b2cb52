// A finite sequence of events that any number of readers replay, each at its own pace and from its own cursor.
//
// A reader that has caught up waits for more. Readers never slow the writer down; how much is kept is up to the subclass.

import { onAbort } from "./on-abort.ts";

export interface FollowOptions {
  /** The cursor of an earlier reader: events after it follow. Default: all events. */
  readonly after?: string;
  /** Aborting ends the reading without an error. */
  readonly signal?: AbortSignal;
}

export interface Positioned<Event> {
  readonly event: Event;
  /** The position right after the event. */
  readonly cursor: string;
}

interface BaseCursor {
  /** Nothing follows, even if the log continues. */
  readonly isEnd?: boolean;
  toString(): string;
}

export abstract class ReplayLog<Event, Cursor extends BaseCursor> implements AsyncIterable<Event> {
  #readers: Set<() => void> | undefined;
  #isComplete = false;

  /** A cursor after this position, or before the first event. Undefined: the text is not a cursor. */
  protected abstract openCursor(after?: string): Cursor | undefined;
  /** The next event, with the cursor moved past it. Undefined: there is none yet, or none any more. */
  protected abstract next(cursor: Cursor): Event | undefined;

  [Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    return this.#replay(this.#open());
  }

  /** Events with the cursor after each, from which a later reader can resume. Throws a RangeError for an invalid cursor. */
  follow({ after, signal }: FollowOptions = {}): AsyncGenerator<Positioned<Event>, void, undefined> {
    return this.#follow(this.#open(after), signal);
  }

  protected get isComplete(): boolean {
    return this.#isComplete;
  }

  /** No more events will come. */
  protected complete(): void {
    this.#isComplete = true;
    this.notifyReaders();
  }

  /** There may be something new to read. */
  protected notifyReaders(): void {
    if (this.#readers === undefined || this.#readers.size === 0) return;
    const readers = [...this.#readers];
    this.#readers.clear();
    for (const wake of readers) wake();
  }

  #open(after?: string): Cursor {
    const cursor = this.openCursor(after);
    if (cursor !== undefined) return cursor;
    throw new RangeError(`Cannot resume after '${after}': it is not a cursor of this event stream`);
  }

  async *#follow(cursor: Cursor, signal: AbortSignal | undefined): AsyncGenerator<Positioned<Event>, void, undefined> {
    for await (const event of this.#replay(cursor, signal)) yield { event, cursor: cursor.toString() };
  }

  async *#replay(cursor: Cursor, signal?: AbortSignal): AsyncGenerator<Event, void, undefined> {
    const isWanted = (): boolean => signal?.aborted !== true && cursor.isEnd !== true;
    while (isWanted()) {
      const event = this.next(cursor);
      if (event !== undefined) yield event;
      else if (this.#isComplete) return;
      else await this.#change(signal);
    }
  }

  /** Resolves when there is something new, or the signal is aborted. */
  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const readers = (this.#readers ??= new Set());
      const stopListening = onAbort(signal, () => {
        readers.delete(wake);
        resolve();
      });
      const wake = (): void => {
        stopListening();
        resolve();
      };
      readers.add(wake);
    });
  }
}
