// The connection that a request came on, for routes that move more than fits into memory.
//
// A body is taken from the socket piece by piece, no faster than it is used: Node's bridge to a web stream would hold thousands of
// pieces. An answer that cannot be finished is cut, so that a client sees that something is missing.

import type { IncomingMessage, ServerResponse } from "node:http";
import { ProblemError, toProblem, type Problem } from "../problem.ts";

/** What @hono/node-server hands over; there is none where an app is asked without a socket. */
export interface Connection {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

/** A client that sends nothing of its body for so long is gone. */
const READ_MS = 60_000;

export class Wire {
  readonly #request: Request;
  readonly #connection: Connection;

  constructor(request: Request, connection: Connection = {}) {
    this.#request = request;
    this.#connection = connection;
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

  /** For a body that is read otherwise: whoever sends nothing of it for a while is gone. */
  async whileReading<Value>(read: () => Promise<Value>): Promise<Value> {
    const { incoming } = this.#connection;
    if (incoming?.complete !== false) return read();
    incoming.setTimeout(READ_MS); // without a listener the socket is destroyed
    try {
      return await read();
    } finally {
      incoming.setTimeout(0);
    }
  }

  /** In the middle of an answer. False: there is no connection to cut. */
  cut(): boolean {
    const { outgoing } = this.#connection;
    outgoing?.destroy();
    return outgoing !== undefined;
  }

  #open(): { content: AsyncIterable<Uint8Array>; isBroken: () => boolean; isTaken: () => boolean } {
    const { incoming } = this.#connection;
    let state: "open" | "broken" | "taken" = "open";
    const source = this.#source();
    return {
      content: (async function* () {
        incoming?.setTimeout(READ_MS); // without a listener the socket is destroyed
        try {
          for await (const chunk of source) yield chunk;
          state = "taken";
        } catch (error) {
          state = "broken";
          throw error;
        } finally {
          incoming?.setTimeout(0);
        }
      })(),
      isBroken: () => state === "broken",
      isTaken: () => state === "taken",
    };
  }

  #source(): AsyncIterable<Uint8Array> {
    const { incoming } = this.#connection;
    // Destroying it would destroy the socket before the answer is sent.
    if (incoming !== undefined) return incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    return (this.#request.body ?? []) as unknown as AsyncIterable<Uint8Array>;
  }
}

/** The client has gone, or its framing is broken: nobody may ever read this. */
const INCOMPLETE: Problem = {
  status: 400,
  code: "MALFORMED",
  detail: "The body ended early",
  headers: { connection: "close" },
};
