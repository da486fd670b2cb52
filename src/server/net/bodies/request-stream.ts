// The connection that a request came on, for routes that move more than fits into memory.
//
// A body is taken from the socket piece by piece, no faster than it is used: Node's bridge to a web stream would hold thousands of
// pieces. An answer that cannot be finished is cut, so that a client sees that something is missing; and so is a client that hardly moves.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { ProblemError, toProblem, type Problem } from "../problem.ts";
import type { BodyRoom, Hold } from "../memory-budget.ts";
import { DEFAULT_PACE, Pace, type PaceBounds } from "./min-throughput.ts";

/** What @hono/node-server hands over; there is none where an app is asked without a socket. */
export interface Connection {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

export class Wire {
  readonly #request: Request;
  readonly #connection: Connection;
  readonly #bounds: PaceBounds;

  constructor(request: Request, connection: Connection = {}, bounds: PaceBounds = DEFAULT_PACE) {
    this.#request = request;
    this.#connection = connection;
    this.#bounds = bounds;
  }

  /** For whatever moves over it. */
  pace(onStall: () => void): Pace {
    return new Pace(onStall, this.#bounds);
  }

  /** Gives the body to `take`, once. What it throws before it has taken all ends the connection with the answer, and the rest is never read. */
  async receive<Value>(take: (content: AsyncIterable<Uint8Array>) => Promise<Value>): Promise<Value> {
    const body = this.#open();
    try {
      return await take(body.content);
    } catch (error) {
      if (this.#request.signal.aborted || body.isBroken()) throw new ProblemError(INCOMPLETE);
      const problem = toProblem(error);
      if (body.isTaken() || problem.status === 500) throw error;
      throw new ProblemError({ ...problem, headers: { ...problem.headers, connection: "close" } });
    }
  }

  /** For a body that is read otherwise, at once, into room for it. Throws a ProblemError where it comes too slowly: then nothing may ever end `read`. */
  async whileReading<Value>(room: BodyRoom, read: (hold: Hold) => Promise<Value>): Promise<Value> {
    using hold = room.hold();
    const { incoming } = this.#connection;
    if (incoming?.complete !== false) return await read(hold);
    const { bytes, windowMs } = this.#bounds;
    const { socket } = incoming;
    let before = socket.bytesRead;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        timer = setInterval(() => {
          if (socket.bytesRead - before < bytes) reject(new ProblemError(TOO_SLOW));
          before = socket.bytesRead;
        }, windowMs);
        read(hold).then(resolve, reject);
      });
    } finally {
      clearInterval(timer);
    }
  }

  /** In the middle of an answer. False: there is no connection to cut. */
  cut(): boolean {
    const { outgoing } = this.#connection;
    outgoing?.destroy();
    return outgoing !== undefined;
  }

  #open(): { content: AsyncIterable<Uint8Array>; isBroken: () => boolean; isTaken: () => boolean } {
    let state: "open" | "broken" | "taken" = "open";
    const source = this.#source()[Symbol.asyncIterator]();
    const next = this.#paced(() => source.next());
    return {
      content: (async function* () {
        try {
          for (let one = await next(); one.done !== true; one = await next()) yield one.value;
          state = "taken";
        } catch (error) {
          if (!(error instanceof ProblemError)) state = "broken";
          throw error;
        } finally {
          // Not awaited: it waits for what may never come.
          source.return?.().catch(() => {});
        }
      })(),
      isBroken: () => state === "broken",
      isTaken: () => state === "taken",
    };
  }

  /** Rejects with a ProblemError where the pieces come too slowly. */
  #paced(read: () => Promise<IteratorResult<Uint8Array>>): () => Promise<IteratorResult<Uint8Array>> {
    let stall = (): void => {};
    const pace = this.pace(() => stall());
    return async () => {
      pace.wait();
      try {
        const one = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
          stall = () => reject(new ProblemError(TOO_SLOW));
          read().then(resolve, reject);
        });
        pace.came(one.done === true ? 0 : one.value.length);
        return one;
      } catch (error) {
        pace[Symbol.dispose]();
        throw error;
      }
    };
  }

  #source(): AsyncIterable<Uint8Array> {
    const { incoming } = this.#connection;
    // Destroying it would destroy the socket before the answer is sent.
    if (incoming !== undefined) return incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    return this.#request.body ?? Readable.from([]);
  }
}

/** The client has gone, or its framing is broken: nobody may ever read this. */
const INCOMPLETE: Problem = {
  status: 400,
  code: "MALFORMED",
  detail: "The body ended early",
  headers: { connection: "close" },
};

const TOO_SLOW: Problem = {
  status: 408,
  code: "TOO_SLOW",
  detail: "The body came too slowly",
  headers: { connection: "close" },
};
