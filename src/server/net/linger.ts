// Ends a connection whose client is still sending: what it sends is read and dropped for a while, because closing the socket over unread
// bytes would reset it, and the client might never see the response.

import type { IncomingMessage } from "node:http";

const LINGER_MS = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Less is read to its end, and the connection can be used again. */
const SMALL_BYTES = 64 * 1024;

/** Whether more than a little of the body is still to come. */
export function isUploading({ complete, headers }: IncomingMessage): boolean {
  return !complete && !(Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= SMALL_BYTES);
}

/** Call it before the response is sent. Only a connection that the response closes is affected. */
export function lingerOnClose(incoming: IncomingMessage): void {
  const { socket } = incoming;
  if (incoming.complete) return;
  // Node calls this when the last response of a connection has been written.
  socket.destroySoon = () => {
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
    };
    const timer = setTimeout(end, LINGER_MS).unref();
    let left = MAX_BYTES;
    incoming.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) end();
    });
    incoming.once("end", end).once("close", end);
    socket.end();
    incoming.resume();
  };
}
