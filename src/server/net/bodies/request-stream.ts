// The connection of one request, for routes that transfer more than fits into memory.
//
// A body is read from the socket chunk by chunk, no faster than it is used: Node's bridge to a web stream would buffer thousands of
// chunks. A response that cannot be completed ends its connection, so that the client notices; so does a client that is too slow.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { MemoryBudget, Reservation } from "../memory-budget.ts";
import { ProblemError, toProblem, type Problem } from "../problem.ts";
import { BodyHash, type BodyDigest } from "./body-digest.ts";
import { INCOMPLETE_BODY } from "./body.ts";
import { DEFAULT_MIN_THROUGHPUT, MinThroughput, type ThroughputLimit } from "./min-throughput.ts";

/** Given by @hono/node-server; empty when an app is called without a socket. */
export interface Connection {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

export class RequestStream {
  readonly #request: Request;
  readonly #connection: Connection;
  readonly #limit: ThroughputLimit;

  #isDigested = false;
  #hash: BodyHash | undefined;

  constructor(request: Request, connection: Connection = {}, limit: ThroughputLimit = DEFAULT_MIN_THROUGHPUT) {
    this.#request = request;
    this.#connection = connection;
    this.#limit = limit;
  }

  /** From now on, what is read of the body is digested. */
  startDigest(): void {
    this.#isDigested = true;
  }

  /** Of what was read of the body. Null: nothing was. */
  get digest(): BodyDigest | null {
    return this.#hash?.digest ?? null;
  }

  /** For a body that was read in another way. */
  noteBody(bytes: Uint8Array): void {
    if (this.#isDigested) (this.#hash ??= new BodyHash()).update(bytes);
  }

  /** Reads the body and drops it. One that is larger is not read to its end: throws the problem. */
  async readDigest(maxBytes: number, tooLarge: Problem): Promise<BodyDigest | null> {
    this.startDigest();
    let bytes = 0;
    await this.receive(async (content) => {
      for await (const chunk of content) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new ProblemError(tooLarge);
      }
    });
    return this.digest;
  }

  minThroughput(onStall: () => void): MinThroughput {
    return new MinThroughput(onStall, this.#limit);
  }

  /** Passes the body to `take`, once. When `take` throws before it has read everything, the rest is never read and the connection ends. */
  async receive<Value>(take: (content: AsyncIterable<Uint8Array>) => Promise<Value>): Promise<Value> {
    const body = this.#open();
    try {
      return await take(body.content);
    } catch (error) {
      if (this.#request.signal.aborted || body.isBroken()) throw new ProblemError(INCOMPLETE_BODY);
      const problem = toProblem(error);
      if (body.isComplete() || problem.status === 500) throw error;
      throw new ProblemError({ ...problem, headers: { ...problem.headers, connection: "close" } });
    }
  }

  /** For a body that `read` reads as a whole. Throws a ProblemError when it arrives too slowly; `read` may then never settle. */
  async whileReading<Value>(budget: MemoryBudget, read: (memory: Reservation) => Promise<Value>): Promise<Value> {
    using memory = budget.reserve();
    const { incoming } = this.#connection;
    if (incoming?.complete !== false) return await read(memory);
    const { bytes, windowMs } = this.#limit;
    const { socket } = incoming;
    let before = socket.bytesRead;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        timer = setInterval(() => {
          if (socket.bytesRead - before < bytes) reject(new ProblemError(TOO_SLOW));
          before = socket.bytesRead;
        }, windowMs);
        read(memory).then(resolve, reject);
      });
    } finally {
      clearInterval(timer);
    }
  }

  /** Ends the connection in the middle of a response. False: there is no connection. */
  cut(): boolean {
    const { outgoing } = this.#connection;
    outgoing?.destroy();
    return outgoing !== undefined;
  }

  #open(): { content: AsyncIterable<Uint8Array>; isBroken: () => boolean; isComplete: () => boolean } {
    let state: "open" | "broken" | "complete" = "open";
    const source = this.#source()[Symbol.asyncIterator]();
    const next = this.#withMinThroughput(() => source.next());
    const note = (chunk: Uint8Array): void => this.noteBody(chunk);
    note(new Uint8Array());
    return {
      content: (async function* () {
        try {
          for (let one = await next(); one.done !== true; one = await next()) {
            note(one.value);
            yield one.value;
          }
          state = "complete";
        } catch (error) {
          if (!(error instanceof ProblemError)) state = "broken";
          throw error;
        } finally {
          // Not awaited: it waits for data that may never arrive.
          source.return?.().catch(() => {});
        }
      })(),
      isBroken: () => state === "broken",
      isComplete: () => state === "complete",
    };
  }

  /** Rejects with a ProblemError when chunks arrive too slowly. */
  #withMinThroughput(read: () => Promise<IteratorResult<Uint8Array>>): () => Promise<IteratorResult<Uint8Array>> {
    let stall = (): void => {};
    const throughput = this.minThroughput(() => stall());
    return async () => {
      throughput.expectData();
      try {
        const one = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
          stall = () => reject(new ProblemError(TOO_SLOW));
          read().then(resolve, reject);
        });
        throughput.received(one.done === true ? 0 : one.value.length);
        return one;
      } catch (error) {
        throughput.stop();
        throw error;
      }
    };
  }

  #source(): AsyncIterable<Uint8Array> {
    const { incoming } = this.#connection;
    // Destroying it would destroy the socket before the response is sent.
    if (incoming !== undefined) return incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    return this.#request.body ?? Readable.from([]);
  }
}

const TOO_SLOW: Problem = {
  status: 408,
  code: "TOO_SLOW",
  detail: "The body came too slowly",
  headers: { connection: "close" },
};
