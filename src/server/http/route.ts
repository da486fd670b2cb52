// What a route is: one value that is served, validated, counted and documented. There is nothing of a route beside it.

import type { z } from "zod";
import type { Door } from "../context/server-context.ts";
import type { Wire } from "../net/bodies/request-stream.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** What comes back under one status. */
export interface Answer {
  readonly description: string;
  /** Of the JSON that is answered; it has an `id` in its metadata. Absent: there is none. */
  readonly schema?: z.ZodType;
  /** Where it is something other than JSON, beside it or in its place. */
  readonly types?: readonly string[];
}

/** A body that is taken as it comes, piece by piece. */
export interface RawBody {
  readonly types: readonly string[];
  readonly description: string;
}

export interface Asked<Query = unknown, Body = unknown> {
  readonly request: Request;
  /** As it is in the answer and in the log. */
  readonly requestId: string;
  /** Of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** For a raw body, and for answers of any size. */
  readonly wire: Wire;
}

interface Description {
  readonly method: Method;
  /** As in OpenAPI: `/v1/sessions/{id}`. `{path+}` stands for the rest of the path, slashes included. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Request headers that mean something here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** By status; what any route may answer is not repeated. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Codes of problems that this route has beside those of all, by status. */
  readonly problems?: readonly number[];
  /** It needs no token. */
  readonly isOpen?: boolean;
  /** Begins nothing, though it may be a POST or PUT, and is quick: it is answered while the server ends or is overloaded, too. */
  readonly isLight?: boolean;
  /** Of JSON. Default: 64 MiB. */
  readonly maxBodyBytes?: number;
}

interface Spec<Query extends z.ZodType, Body extends z.ZodType> extends Description {
  readonly query?: Query;
  /** An empty body is `{}`. */
  readonly body?: Body;
  readonly rawBody?: RawBody;
  handle(asked: Asked<z.output<Query>, z.output<Body>>, door: Door): Response | Promise<Response>;
}

/** A route whose types have done their work. */
export interface Route extends Description {
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly rawBody?: RawBody;
  handle(asked: Asked<never, never>, door: Door): Response | Promise<Response>;
}

export function route<Query extends z.ZodType, Body extends z.ZodType>(spec: Spec<Query, Body>): Route {
  return spec;
}

export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}

export function nothing(): Response {
  return new Response(null, { status: 204 });
}
