// What every route has in common: host, origin, token and rate limits are checked first, errors become problem documents, and every
// response carries the id of its request and is reported.

import { Hono, type Context } from "hono";
import { PROTOCOL } from "../../../protocol/api/web-socket.ts";
import { randomId } from "../../../util/make-id.ts";
import { checkProtocol } from "./protocol-version.ts";
import { RequestLimiter, type ServerLimits } from "./request-limiter.ts";
import { answerPreflight, corsHeaders } from "./cors.ts";
import { checkNames, checkToken, digest } from "./guard.ts";
import { matchOpenPaths } from "./open-paths.ts";
import { toProblem, toResponse, type Problem } from "../problem.ts";

export interface GuardOptions {
  readonly token: string;
  /** Host names beside those of loopback. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Origins of other sites, as `parseOrigin` returns them. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** Each replaces a default. */
  readonly limits?: Partial<ServerLimits>;
  /** Receives internal errors. Default: ignored. */
  readonly onUnexpected?: (error: unknown, requestId?: string) => void;
  /** Called when the head of a response is known; a stream may continue. Must be quick. Default: ignored. */
  readonly onAnswered?: (answered: AnsweredRequest) => void;
}

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** The path pattern; `other` for unknown paths. */
  readonly route: string;
  /** Without the query, which may hold a secret. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  /** The address of the client; empty without a socket. */
  readonly remote: string;
  /** Of the problem, if it is one. */
  readonly code: string | undefined;
  /** The request had no valid token, whether or not it needed one. */
  readonly isAnonymous: boolean;
}

export interface GuardedRoute {
  readonly method: string;
  /** In Hono's syntax. */
  readonly path: string;
  /** For the log and the metrics. Default: the path. */
  readonly name?: string;
  /** Needs no token, and has no limits. */
  readonly isOpen?: boolean;
  /** Served when the server is overloaded, too: it ends other requests, or reports on them. */
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

const PROTOCOL_HEADER = ["rlm-protocol", String(PROTOCOL)] as const;

const ignore = (): void => {};

/** Unknown methods of a known path get a 405; OPTIONS lists the known ones. */
export function createGuardedApp(routes: readonly GuardedRoute[], options: GuardOptions): Hono<Env> {
  const { onUnexpected = ignore, onAnswered = ignore } = options;
  const app = new Hono<Env>();
  const limiter = new RequestLimiter(options.limits);
  const guard = createGuard(routes, options, limiter);
  app.use(async (context, next) => {
    const startedAt = performance.now();
    const { req } = context;
    const requestId = toRequestId(req.header("x-request-id"));
    const remote = context.env?.incoming?.socket?.remoteAddress ?? "";
    context.set("requestId", requestId);
    const refused = await guard(context, remote, next);
    if (refused !== undefined) context.res = refused;
    // Touching the headers of a Response makes it several times as slow.
    const { outgoing } = context.env ?? {};
    for (const [name, value] of [["x-request-id", requestId] as const, PROTOCOL_HEADER]) {
      if (outgoing === undefined) context.res.headers.set(name, value);
      else outgoing.setHeader(name, value);
    }
    const { method, path } = req;
    const { status } = context.res;
    const durationMs = performance.now() - startedAt;
    const { route = "other", code, hasToken } = context.var as Partial<Env["Variables"]>;
    onAnswered({ requestId, method, route, path, status, durationMs, remote, code, isAnonymous: hasToken !== true });
  });
  for (const served of routes) {
    const { method, path, name = path } = served;
    app.on(method, path, (context) => {
      context.set("route", name);
      const overload = served.isLight === true || served.isOpen === true ? undefined : limiter.checkLoad();
      return overload === undefined ? served.handle(context) : refuse(context, overload);
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

/** Passes a request on, or responds to it. The token is checked before the limits, so that nobody can use up those of its owner. */
function createGuard(routes: readonly GuardedRoute[], options: GuardOptions, limiter: RequestLimiter): Guard {
  const { token, allowedHosts = [], allowedOrigins = [] } = options;
  const expected = digest(token);
  const isOpenPath = matchOpenPaths(routes.filter(({ isOpen }) => isOpen === true).map(({ path }) => path));
  const pass: Guard = async (context, remote, next) => {
    if (isOpenPath(context.req.path)) {
      await next();
      return undefined;
    }
    const authorization = context.req.header("authorization");
    const unauthorized = checkToken(authorization, expected);
    if (unauthorized !== undefined) {
      return refuse(context, limiter.refuse(remote, unauthorized, authorization !== undefined));
    }
    context.set("hasToken", true);
    const problem = limiter.enter(remote);
    if (problem !== undefined) return refuse(context, problem);
    try {
      await next();
      return undefined;
    } finally {
      limiter.leave();
    }
  };
  return async (context, remote, next) => {
    const { req } = context;
    const origin = req.header("origin");
    const names = checkNames(req.header("host"), origin, allowedHosts, allowedOrigins);
    if (names !== undefined) return refuse(context, names);
    const version = checkProtocol(req.header("rlm-protocol"));
    if (version !== undefined) return refuse(context, version);
    if (origin === undefined || !allowedOrigins.includes(origin)) return pass(context, remote, next);
    if (req.method === "OPTIONS") return answerPreflight(origin);
    const refused = await pass(context, remote, next);
    const { headers } = refused ?? context.res;
    for (const [name, value] of Object.entries(corsHeaders(origin))) headers.set(name, value);
    return refused;
  };
}

/** The client's own if it is safe in a header and a log line, else a new one. */
function toRequestId(sent: string | undefined): string {
  return sent !== undefined && /^[\w.:/+=@-]{1,100}$/.test(sent) ? sent : randomId("req");
}

function refuse(context: Context<Env>, problem: Problem): Response {
  context.set("code", problem.code);
  return toResponse(problem, context.get("requestId"));
}

function wrongMethod(methods: string, allow: string): Problem {
  const detail = `This route answers ${methods}`;
  return { status: 405, code: "METHOD_NOT_ALLOWED", detail, headers: { allow } };
}
