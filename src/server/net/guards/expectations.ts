// `Expect: 100-continue`: a client that asks before it sends a large body.
//
// It is told to go on when somebody begins to read the body. So a request that is refused by its token, its route or its size is answered
// before anything of the body is on its way, and its connection ends with the answer: what comes next on it could be that body.

import type { IncomingMessage, Server, ServerResponse } from "node:http";

export class Expectations {
  readonly #waiting = new WeakSet<IncomingMessage>();

  constructor(server: Server) {
    server.on("checkContinue", (incoming, outgoing) => {
      this.#await(incoming, outgoing);
      server.emit("request", incoming, outgoing);
    });
    // What a client expects beside that may be ignored; Node's own answer would not be a problem.
    server.on("checkExpectation", (incoming, outgoing) => void server.emit("request", incoming, outgoing));
  }

  /** Whether nobody has begun to read the body that a client holds back. */
  isWaiting(incoming: IncomingMessage): boolean {
    return this.#waiting.has(incoming) && !incoming.complete;
  }

  #await(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#waiting.add(incoming);
    const read = incoming._read.bind(incoming);
    incoming._read = (size) => {
      // After an answer Node reads what is left of a body by itself.
      if (this.#waiting.delete(incoming) && !outgoing.headersSent) outgoing.writeContinue();
      read(size);
    };
  }
}
