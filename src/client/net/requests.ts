// Requests that are repeated until they have a response. Each has an idempotency key, so that the server acts once.

import type { Signal } from "../../api/web-types.ts";
import type { Check } from "../shapes/check.ts";
import { jsonBody, type RequestBody } from "./body.ts";
import type { Connection, Exchange } from "./connection.ts";
import { connectionError, notOurs, TemporaryFailure } from "./failure.ts";
import { randomId, toQuery, type Query } from "./ids.ts";
import { readBytes, toJSON, TooLarge } from "./read-body.ts";

const MAX_JSON_BYTES = 16 * 1024 * 1024;
const MAX_LARGE_BYTES = 256 * 1024 * 1024;

export interface Request {
  readonly query?: Query;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: RequestBody;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: Signal | undefined;
  /** The body is large: its response may take as long as it takes. */
  readonly isUpload?: boolean;
  /** The response has what code, commands or models made: executions, tasks, runs, or their output. */
  readonly isLarge?: boolean;
  /** It waits, for example behind running code: it goes on as long as the server is there, whatever cuts the connection. */
  readonly isQueued?: boolean;
  /** Whether this refusal of a second attempt says that the first one did it. */
  readonly isDone?: (error: unknown) => boolean;
}

/** The response to one request, and its body. */
export interface Answer {
  readonly bytes: Uint8Array;
  readonly headers: Headers;
  readonly status: number;
}

export class Requests {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async json<Value>(method: string, path: string, check: Check<Value>, request: Request = {}): Promise<Value> {
    const { bytes, status, headers } = await this.bytes(method, path, request);
    const value = toJSON(bytes);
    if (check(value)) return value;
    const type = headers.get("content-type")?.slice(0, 100) ?? "nothing";
    throw notOurs(this.connection.url, `it answered ${method} ${path.slice(0, 100)} with ${status} and other ${type}`);
  }

  /** For a request whose response does not matter. */
  send(method: string, path: string, request: Request = {}): Promise<void> {
    return this.repeat(method, path, request, async ({ response, toFailure }) => {
      await readBytes(response, this.connection.clock, MAX_JSON_BYTES).catch((error: unknown) => {
        if (!(error instanceof TooLarge)) throw toFailure(error);
      });
    });
  }

  /** A response that is too large is an error of the server. */
  bytes(method: string, path: string, request: Request = {}): Promise<Answer> {
    const maxBytes = request.isLarge === true ? MAX_LARGE_BYTES : MAX_JSON_BYTES;
    return this.repeat(method, path, request, async ({ response, toFailure }) => {
      try {
        const bytes = await readBytes(response, this.connection.clock, maxBytes);
        return { bytes, headers: response.headers, status: response.status };
      } catch (error) {
        throw toFailure(error);
      }
    });
  }

  /** `read` is part of the attempt: what it throws as temporary repeats the request. The exchange is closed afterwards. */
  async repeat<Value>(
    method: string,
    path: string,
    request: Request,
    read: (exchange: Exchange) => Promise<Value>,
  ): Promise<Value> {
    const { connection } = this;
    const { query = {}, json, headers, signal, isUpload = false, isDone } = request;
    const body = json === undefined ? request.body : jsonBody(json);
    const key = method === "GET" ? {} : { "idempotency-key": randomId("k") };
    const target = path + toQuery(query);
    const backoff = connection.backoff();
    for (let attempts = 1; ; attempts += 1) {
      const beganAt = connection.clock.now();
      try {
        const exchange = await connection.attempt(method, target, {
          headers: { accept: "application/json, */*;q=0.5", ...key, ...headers },
          body,
          signal,
          isPatient: isUpload,
        });
        try {
          return await read(exchange);
        } finally {
          exchange.close();
        }
      } catch (error) {
        if (attempts > 1 && isDone?.(error) === true) return undefined as Value;
        if (!(error instanceof TemporaryFailure)) throw error;
        if (body?.isRepeatable === false) throw cannotRepeat(error);
        if (request.isQueued === true && (await connection.wasWaiting(error, beganAt, signal))) backoff.reset();
        await backoff.wait(error, signal === undefined ? [connection.closing] : [connection.closing, signal]);
      }
    }
  }
}

function cannotRepeat({ error }: TemporaryFailure): Error {
  const why = `${error.message}. The content was a stream that has been read in part, so it was not sent again: try again with a new one`;
  return connectionError(error.url, why, error.cause ?? error);
}
