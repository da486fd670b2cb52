// Watches the files of a session. Changes during a lost connection are reported as an overflow: the reader lists the folder again.

import type { FileWatch, FileWatchOptions } from "../../api/files.ts";
import type { FileChange } from "../../protocol/files.ts";
import type { Connection } from "../net/connection.ts";
import { openEvents, type EventStream, type StreamedEvent } from "../net/event-stream.ts";
import { connectionError, notOurs, TemporaryFailure } from "../net/failure.ts";
import { toQuery } from "../net/ids.ts";
import { fileChange } from "../shapes/sessions.ts";

export class RemoteFileWatch implements FileWatch {
  readonly #connection: Connection;
  readonly #url: string;
  readonly #path: string;
  readonly #options: FileWatchOptions;
  readonly #closing = new AbortController();
  #stream: EventStream | undefined;
  #events: AsyncIterator<StreamedEvent> | undefined;
  #beganAt = 0;
  readonly #onAbort = (): void => void this.close();

  constructor(connection: Connection, url: string, path: string, options: FileWatchOptions) {
    this.#connection = connection;
    this.#url = url + toQuery({ path, recursive: options.recursive });
    this.#path = path;
    this.#options = options;
  }

  /** Once. Resolves when the server watches. */
  async open(): Promise<this> {
    await this.#connect();
    this.#options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FileChange, void, undefined> {
    const backoff = this.#connection.backoff();
    try {
      while (!this.#closing.signal.aborted) {
        try {
          if (this.#events === undefined) {
            await this.#connect();
            yield { type: "overflow", path: this.#path };
          }
          const { done, value } = (await this.#events?.next()) ?? { done: true as const, value: undefined };
          if (done === true) throw this.#lost();
          if (value.type === "watch-end") return;
          backoff.reset();
          if (value.type !== "change") continue;
          if (!fileChange(value.data)) throw notOurs(this.#connection.url, "it sends an invalid change");
          yield value.data;
        } catch (error) {
          if (this.#closing.signal.aborted) return;
          if (!(error instanceof TemporaryFailure)) throw error;
          this.#events = undefined;
          if (!error.isSilence && (await this.#connection.wasWaiting(error, this.#beganAt))) backoff.reset();
          await backoff.wait(error, [this.#connection.closing, this.#closing.signal]);
        }
      }
    } finally {
      await this.close();
    }
  }

  close(): Promise<void> {
    this.#closing.abort();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#stream?.close();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #connect(): Promise<void> {
    const backoff = this.#connection.backoff();
    const { signal } = this.#options;
    for (;;) {
      try {
        this.#beganAt = this.#connection.clock.now();
        this.#stream = await openEvents(this.#connection, "GET", this.#url, { signal });
        const events = this.#stream.read();
        const { done, value } = await events.next();
        if (done === true || value.type !== "watch-start") throw this.#lost();
        this.#events = events;
        return;
      } catch (error) {
        if (!(error instanceof TemporaryFailure)) throw error;
        await backoff.wait(error, [this.#connection.closing, this.#closing.signal]);
      }
    }
  }

  #lost(): TemporaryFailure {
    const { url } = this.#connection;
    return new TemporaryFailure(connectionError(url, `The server at ${url} ended the watch`));
  }
}
