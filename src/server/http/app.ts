// The routes of `rlm serve` behind their guards. Each request is checked, parsed by its route's schemas, and handled.

import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { ServerContext } from "../context/server-context.ts";
import { parseBody, parseValue } from "../net/bodies/body.ts";
import { isMultipart } from "../net/bodies/multipart.ts";
import { RequestStream, type Connection } from "../net/bodies/request-stream.ts";
import { createGuardedApp, type GuardOptions } from "../net/guards/guarded-app.ts";
import { ProblemError, SHUTTING_DOWN } from "../net/problem.ts";
import type { Route, RouteRequest } from "./route.ts";
import { API_ROUTES, ROUTES } from "./routes.ts";

/** `more`: routes beside the documented ones. */
export function createApp(
  server: ServerContext,
  guard: GuardOptions,
  more: readonly Route[] = [],
): ReturnType<typeof createGuardedApp> {
  const guarded = [...ROUTES, ...API_ROUTES, ...more].map((route) => ({
    ...route,
    path: toPattern(route.path),
    name: route.path,
    handle: (context: Context) => handle(route, context, server),
  }));
  return createGuardedApp(guarded, guard);
}

/** From OpenAPI's path syntax to Hono's. */
function toPattern(path: string): string {
  return path.replaceAll(
    /\{(\w+)(\+?)\}/g,
    (_whole, name: string, rest: string) => `:${name}${rest === "" ? "" : "{[^]+}"}`,
  );
}

async function handle(route: Route, { req, env, get }: Context, server: ServerContext): Promise<Response> {
  if (server.draining.aborted && startsWork(route)) throw new ProblemError(SHUTTING_DOWN);
  const query = route.query === undefined ? { value: undefined } : parseValue(req.query(), route.query, "query");
  if ("problem" in query) throw new ProblemError(query.problem);
  const stream = new RequestStream(req.raw, env as Connection | undefined, server.minThroughput);
  const { body: schema, maxBodyBytes } = route;
  const isForm = route.form !== undefined && isMultipart(req.raw);
  const body =
    schema === undefined || isForm
      ? { value: undefined }
      : await stream.whileReading(server.bodyMemory, (memory) => parseBody(req.raw, schema, memory, maxBodyBytes));
  if ("problem" in body) throw new ProblemError(body.problem);
  const request: RouteRequest = {
    request: req.raw,
    requestId: get("requestId") as string,
    params: req.param(),
    query: query.value,
    body: body.value,
    stream,
  };
  const key = route.isOnce === true ? req.header("idempotency-key") : undefined;
  if (key === undefined) return route.handle(request, server);
  const { pathname, search } = new URL(req.url);
  const parts = [req.method, pathname, search, req.header("content-type") ?? "", body.value ?? null];
  const target = createHash("sha256").update(JSON.stringify(parts)).digest("base64");
  return server.responses.once(key, target, stream, () => route.handle(request, server));
}

function startsWork({ method, isLight }: Route): boolean {
  return isLight !== true && (method === "POST" || method === "PUT");
}
