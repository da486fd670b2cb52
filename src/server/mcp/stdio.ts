// The MCP server on standard input and output: one client, one connection.
//
// Nothing but messages goes to standard output. The connection is over when the client closes its end, is gone, or when
// nobody reads any more; whoever serves then closes the runtime. Messages are bounded: one that is too long is answered
// with an error and never held in memory. Answers that nobody takes are bounded, too: past that nothing more is read.

import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { BoundedLines } from "./bounded-lines.ts";
import { MAX_MESSAGE_BYTES } from "./message-size.ts";

interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Told of what went wrong with the connection, for a log. */
  readonly onProblem: (error: Error) => void;
}

const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

export interface StdioConnection {
  /** Settles when the client is gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export function serveMCPOverStdio(
  factory: McpServerFactory,
  { input, output, onProblem }: StdioOptions,
): StdioConnection {
  const lines = new BoundedLines(MAX_MESSAGE_BYTES, (id) => {
    onProblem(new Error(`a message of more than ${MAX_MESSAGE_BYTES} bytes was refused`));
    if (id !== undefined) output.write(toRefusal(id));
  });
  const ended = new Promise<void>((resolve) => {
    const end = (): void => resolve();
    input.on("end", end).on("close", end).on("error", end);
    output.on("error", end).on("close", end);
  });
  output.setMaxListeners(0); // the transport adds some for each answer that waits
  input.on("data", () => {
    if (output.writableLength > MAX_UNREAD_BYTES) input.pause();
  });
  output.on("drain", () => input.resume());
  const transport = new StdioServerTransport(input.pipe(lines), output, { maxBufferSize: 4 * MAX_MESSAGE_BYTES });
  const handle = serveStdio(factory, { transport, onerror: onProblem });
  return { ended, close: () => handle.close() };
}

function toRefusal(id: string | number): string {
  const message =
    "The message is longer than 16 MiB. Put data into a file that the sandbox sees and load it with set_repl_context(key, path).";
  return `${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32600, message } })}\n`;
}
