// The MCP server on standard input and output: one client, one connection.
//
// Only messages go to standard output. The connection ends when the client closes its end or exits; the caller then closes the runtime.

import type { Readable, Writable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { StdioTransport } from "./stdio-transport.ts";

interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Receives errors of the connection, for a log. */
  readonly onProblem: (error: Error) => void;
}

export interface StdioConnection {
  /** Settles when the client has disconnected. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export function serveMCPOverStdio(
  factory: McpServerFactory,
  { input, output, onProblem }: StdioOptions,
): StdioConnection {
  const ended = new Promise<void>((resolve) => {
    const end = (): void => resolve();
    input.on("end", end).on("close", end).on("error", end);
    output.on("error", end).on("close", end);
  });
  const handle = serveStdio(factory, { transport: new StdioTransport(input, output), onerror: onProblem });
  return { ended, close: () => handle.close() };
}
