// JSON-RPC messages as lines on two streams.
//
// A line that is too long is answered with an error and never held in memory. When the client does not read its responses, no more requests
// are read. The SDK validates messages, as for every transport.

import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { parseJSON } from "../../../util/parse-json.ts";
import { BoundedLines, MAX_MESSAGE_BYTES } from "./bounded-lines.ts";

const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

export class StdioTransport implements Transport {
  onmessage?: NonNullable<Transport["onmessage"]>;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines = new BoundedLines(
    MAX_MESSAGE_BYTES,
    (line) => this.#receive(line),
    (id) => this.#refuse(id),
  );
  readonly #take = (chunk: Buffer): void => {
    this.#lines.push(chunk);
    if (this.#output.writableLength > MAX_UNREAD_BYTES) this.#input.pause();
  };
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    const end = (): void => void this.close();
    const fail = (error: Error): void => {
      if (!this.#isClosed) this.onerror?.(error);
      end();
    };
    this.#input.on("end", end).on("close", end).on("error", fail).on("data", this.#take);
    this.#output.on("error", fail).on("drain", () => this.#input.resume());
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(end); // there will be no event
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("Cannot send a message: the connection is closed");
    this.#output.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off("data", this.#take).pause();
    this.onclose?.();
  }

  /** A line that is not JSON is ignored: there is no id to respond to. */
  #receive(line: string): void {
    const message = parseJSON(line);
    if (message === undefined) return;
    if (isMessage(message)) {
      this.onmessage?.(message);
      return;
    }
    this.onerror?.(new Error("a line that is no message of the protocol was left out"));
    const { id } = (message ?? {}) as { id?: unknown };
    if (typeof id === "string" || typeof id === "number") this.#fail(id, MALFORMED);
  }

  #refuse(id: string | number | undefined): void {
    this.onerror?.(new Error(`a message of more than ${MAX_MESSAGE_BYTES} bytes was refused`));
    if (id !== undefined) this.#fail(id, TOO_LONG);
  }

  #fail(id: string | number, message: string): void {
    this.#output.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code: INVALID_REQUEST, message } })}\n`);
  }
}

const INVALID_REQUEST = -32600;
const MALFORMED =
  'This is no request: it needs "jsonrpc": "2.0", a string as "method", and an object as "params" if any.';
const TOO_LONG =
  "The message is longer than 16 MiB. Put data into a file in a folder that the sandbox sees, and read it there.";

/** The SDK validates the rest, but ignores messages without these fields. */
function isMessage(message: unknown): message is JSONRPCMessage {
  const { jsonrpc, method, params } = (message ?? {}) as Record<string, unknown>;
  if (jsonrpc !== "2.0") return false;
  if (method === undefined) return "result" in (message as object) || "error" in (message as object);
  return typeof method === "string" && (params === undefined || (typeof params === "object" && params !== null));
}
