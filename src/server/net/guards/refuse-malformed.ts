// Refuses what is not HTTP: writes a response to the raw socket and closes the connection.

import type { Socket } from "node:net";
import { toBody, type Problem } from "../problem.ts";

export const MALFORMED: Problem = {
  status: 400,
  code: "MALFORMED",
  detail: "The request makes no sense: look at its method, URL and headers",
};

/** For the log and the metrics; the client gets no response. */
export const FLOOD: Problem = {
  status: 429,
  code: "PIPELINE_TOO_LONG",
  detail: "Too many requests on a connection before the first of them was answered",
};

const BY_CODE: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: "HEADERS_TOO_LARGE",
    detail: "The URL and the headers together are larger than 16 KiB",
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, code: "BODY_TOO_LARGE", detail: "The chunk extensions are too large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: "TOO_SLOW", detail: "The request took too long to arrive" },
};

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Content Too Large",
  431: "Request Header Fields Too Large",
};

/** The client has disconnected, or sent more after what it announced as its last request. */
const SILENT: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "HPE_CLOSED_CONNECTION"]);

/** Undefined: no response is needed. */
export function toMalformed({ code = "" }: NodeJS.ErrnoException): Problem | undefined {
  return SILENT.has(code) ? undefined : (BY_CODE[code] ?? MALFORMED);
}

/** Closes the connection. `isResponding`: another response is being written to it, so none can be sent. */
export function refuseMalformed(socket: Socket, problem: Problem | undefined, isResponding: boolean): void {
  if (problem === undefined || isResponding || !socket.writable) return socket.destroySoon();
  const body = JSON.stringify(toBody(problem));
  const head = [
    `HTTP/1.1 ${problem.status} ${REASONS[problem.status] ?? "Bad Request"}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "X-Content-Type-Options: nosniff",
    "Cache-Control: no-store",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
