// A route is one value: what is served, validated, counted and documented all comes from it.

import type { z } from "zod";
import type { ServerContext } from "../context/server-context.ts";
import type { RequestStream } from "../net/bodies/request-stream.ts";

type Method = "GET" | "POST" | "PUT" | "DELETE";

export const EVENTS = "text/event-stream";
export const BYTES = "application/octet-stream";

/** The response with one status. */
export interface RouteResponse {
  readonly description: string;
  /** Of a JSON body; its metadata has an `id`. Absent: the body is not JSON. */
  readonly schema?: z.ZodType;
  /** Media types other than JSON. */
  readonly types?: readonly string[];
}

/** A body that the handler reads as a stream. */
interface RawBody {
  readonly types: readonly string[];
  readonly description: string;
}

export interface RouteRequest<Query = unknown, Body = unknown> {
  readonly request: Request;
  /** As in the response and the log. */
  readonly requestId: string;
  /** Of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** For raw bodies and large responses. */
  readonly stream: RequestStream;
}

/** What a route needs beside its method, path and tag. `Query` and `Body` are schemas. */
interface RouteSpec<Query extends z.ZodType = z.ZodType, Body extends z.ZodType = z.ZodType> {
  readonly summary: string;
  readonly description?: string;
  /** Request headers that this route reads. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Query;
  /** An empty body is `{}`. */
  readonly body?: Body;
  readonly rawBody?: RawBody;
  /** The body may also be a form, which the handler reads; `body` is then undefined. What its parts are. */
  readonly form?: string;
  /** Of JSON. Default: 64 MiB. */
  readonly maxBodyBytes?: number;
  /** By status, beside those that every route has. */
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Statuses of problems, beside those that every route has. */
  readonly problems?: readonly number[];
  /** Needs no token. */
  readonly isOpen?: boolean;
  /** Quick, and starts nothing even if it is a POST or PUT: served while the server is overloaded or shuts down. */
  readonly isLight?: boolean;
  /** Acts once, and has a small response: a request that is repeated with the same Idempotency-Key gets the stored one. */
  readonly isOnce?: boolean;
  handle(request: RouteRequest<z.output<Query>, z.output<Body>>, context: ServerContext): Response | Promise<Response>;
}

export interface Route extends RouteSpec {
  readonly method: Method;
  /** As in OpenAPI: `/v1/sessions/{id}`. `{path+}` matches the rest of the path, slashes included. */
  readonly path: string;
  /** The heading in the description. */
  readonly tag: string;
}

type DefineRoute = <Query extends z.ZodType, Body extends z.ZodType>(
  method: Method,
  path: string,
  spec: RouteSpec<Query, Body>,
) => Route;

export function routesTagged(tag: string): DefineRoute {
  return (method, path, spec) => ({ ...spec, method, path, tag });
}

export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}

export function noContent(): Response {
  return new Response(null, { status: 204 });
}

export function wantsEvents({ headers }: Request): boolean {
  return headers.get("accept")?.includes(EVENTS) === true;
}
