// What holds for every route, whichever they are: names, rates and token are checked first, errors are problems, and every answer
// carries the id of its request and is told to whoever listens.

import { Hono, type Context } from "hono";
import { Bounds, type ServerBounds } from "./request-limiter.ts";
import { answerPreflight, corsHeaders } from "./cors.ts";
import { checkNames, checkToken, digest } from "./guard.ts";
import { toProblem, toResponse, type Problem } from "../problem.ts";
import { toRequestId } from "./request-id.ts";

export interface GuardOptions {
  readonly token: string;
  /** Host names beside those of loopback. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Of pages of other sites that may ask, as `parseOrigin` makes them. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** Each one replaces a default. */
  readonly bounds?: Partial<ServerBounds>;
  /** Hears of every error that the table does not know. Default: nobody. */
  readonly onUnexpected?: (error: unknown, requestId?: string) => void;
  /** Hears of every answer, when its head is known: a stream may go on. Must be quick. Default: nobody. */
  readonly onAnswer?: (answered: Answered) => void;
}

export interface Answered {
  readonly requestId: string;
  readonly method: string;
  /** As it is written in the table; `other` for what is none. */
  readonly route: string;
  /** Without the query, which may hold a secret. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  /** The address of the other end; empty where there is none. */
  readonly remote: string;
  /** Of the problem that was answered. */
  readonly code: string | undefined;
  /** Whoever asked did not show the token, wherever that was not asked for either. */
  readonly isStranger: boolean;
}

export interface ServedRoute {
  readonly method: string;
  /** In Hono's way of writing. */
  readonly path: string;
  /** In our own. Default: the path. */
  readonly name?: string;
  /** It needs no token, and no bound holds. */
  readonly isOpen?: boolean;
  /** It is answered, too, when there are as many requests as may be: it ends one of them, or tells of them. */
  readonly isLight?: boolean;
  handle(context: Context): Response | Promise<Response>;
}

interface Env {
  /** Absent without a socket. */
  Bindings: {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
    readonly outgoing?: { setHeader(name: string, value: string): unknown };
  };
  Variables: { requestId: string; route: string; code: string; hasToken: true };
}

const nobody = (): void => {};

/** A method that no route of a path has is answered 405; OPTIONS says which it has. */
export function createGuardedApp(routes: readonly ServedRoute[], options: GuardOptions): Hono<Env> {
  const { onUnexpected = nobody, onAnswer = nobody } = options;
  const app = new Hono<Env>();
  const bounds = new Bounds(options.bounds);
  const guard = createGuard(routes, options, bounds);
  app.use(async (context, next) => {
    const startedAt = performance.now();
    const { req } = context;
    const requestId = toRequestId(req.header("x-request-id"));
    const remote = context.env?.incoming?.socket?.remoteAddress ?? "";
    context.set("requestId", requestId);
    const refused = await guard(context, remote, next);
    if (refused !== undefined) context.res = refused;
    // Whatever touches the headers of a Response makes it several times as slow.
    if (context.env?.outgoing === undefined) context.res.headers.set("x-request-id", requestId);
    else context.env.outgoing.setHeader("x-request-id", requestId);
    const { method, path } = req;
    const { status } = context.res;
    const durationMs = performance.now() - startedAt;
    const { route = "other", code, hasToken } = context.var as Partial<Env["Variables"]>;
    onAnswer({ requestId, method, route, path, status, durationMs, remote, code, isStranger: hasToken !== true });
  });
  for (const served of routes) {
    const { method, path, name = path } = served;
    app.on(method, path, (context) => {
      context.set("route", name);
      const crowded = served.isLight === true || served.isOpen === true ? undefined : bounds.checkRoom();
      return crowded === undefined ? served.handle(context) : refuse(context, crowded);
    });
  }
  for (const path of new Set(routes.map((served) => served.path))) {
    const own = routes.filter((served) => served.path === path);
    const methods = own.map(({ method }) => method);
    const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
    app.all(path, (context) => {
      context.set("route", own[0]?.name ?? path);
      if (context.req.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
      return refuse(context, wrongMethod(methods.join(", "), allow));
    });
  }
  app.notFound((context) => {
    const detail = `There is nothing at ${context.req.path.slice(0, 200)}`;
    return refuse(context, { status: 404, code: "NOT_FOUND", detail });
  });
  app.onError((error, context) => {
    const problem = toProblem(error);
    if (problem.status === 500) onUnexpected(error, context.get("requestId"));
    return refuse(context, problem);
  });
  return app;
}

type Guard = (context: Context<Env>, remote: string, next: () => Promise<void>) => Promise<Response | undefined>;

/** Lets a request through, or answers it. The order matters: the token comes before every bound, so that nobody can use up its owner's. */
function createGuard(routes: readonly ServedRoute[], options: GuardOptions, bounds: Bounds): Guard {
  const { token, allowedHosts = [], allowedOrigins = [] } = options;
  const expected = digest(token);
  const open = new Set(routes.filter(({ isOpen }) => isOpen === true).map(({ path }) => path));
  const pass: Guard = async (context, remote, next) => {
    if (open.has(context.req.path)) {
      await next();
      return undefined;
    }
    const authorization = context.req.header("authorization");
    const stranger = checkToken(authorization, expected);
    if (stranger !== undefined) {
      return refuse(context, bounds.refuse(remote, stranger, authorization !== undefined));
    }
    context.set("hasToken", true);
    const problem = bounds.enter(remote);
    if (problem !== undefined) return refuse(context, problem);
    try {
      await next();
      return undefined;
    } finally {
      bounds.leave();
    }
  };
  return async (context, remote, next) => {
    const { req } = context;
    const origin = req.header("origin");
    const names = checkNames(req.header("host"), origin, allowedHosts, allowedOrigins);
    if (names !== undefined) return refuse(context, names);
    if (origin === undefined || !allowedOrigins.includes(origin)) return pass(context, remote, next);
    if (req.method === "OPTIONS") return answerPreflight(origin);
    const refused = await pass(context, remote, next);
    const { headers } = refused ?? context.res;
    for (const [name, value] of Object.entries(corsHeaders(origin))) headers.set(name, value);
    return refused;
  };
}

function refuse(context: Context<Env>, problem: Problem): Response {
  context.set("code", problem.code);
  return toResponse(problem, context.get("requestId"));
}

function wrongMethod(methods: string, allow: string): Problem {
  const detail = `This route answers ${methods}`;
  return { status: 405, code: "METHOD_NOT_ALLOWED", detail, headers: { allow } };
}
