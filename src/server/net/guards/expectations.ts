// `Expect: 100-continue`: a client that waits for permission before it sends a large body.
//
// Permission is given when a handler begins to read the body. A request that is refused for its token, route or size is answered before
// anything of the body is sent, and its connection is closed, because the next bytes on it could be that body.

import type { IncomingMessage, Server, ServerResponse } from "node:http";

export class Expectations {
  readonly #waiting = new WeakSet<IncomingMessage>();

  constructor(server: Server) {
    server.on("checkContinue", (incoming, outgoing) => {
      this.#await(incoming, outgoing);
      server.emit("request", incoming, outgoing);
    });
    // Other expectations may be ignored. Node's own response would not be a problem document.
    server.on("checkExpectation", (incoming, outgoing) => void server.emit("request", incoming, outgoing));
  }

  /** Whether the client still holds back the body. */
  isWaiting(incoming: IncomingMessage): boolean {
    return this.#waiting.has(incoming) && !incoming.complete;
  }

  #await(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#waiting.add(incoming);
    const read = incoming._read.bind(incoming);
    incoming._read = (size) => {
      // After the response, Node drains the rest of a body by itself.
      if (this.#waiting.delete(incoming) && !outgoing.headersSent) outgoing.writeContinue();
      read(size);
    };
  }
}
