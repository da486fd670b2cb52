// What holds for every route, whichever they are: names and token are checked first, errors are problems.

import { Hono } from "hono";
import { checkNames, checkToken } from "./guard.ts";
import { toProblem, toResponse } from "./problem.ts";

export interface GuardOptions {
  readonly token: string;
  /** Host names beside those of loopback. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Hears of every error that the table does not know. Default: nobody. */
  readonly onUnexpected?: (error: unknown) => void;
}

type Method = "GET" | "POST";
type Handler = (request: Request) => Response | Promise<Response>;
export type Routes = Readonly<Record<string, Partial<Record<Method, Handler>>>>;

/** `open`: the paths that need no token. A method that a route does not have is answered 405. */
export function createGuardedApp(
  routes: Routes,
  { token, allowedHosts = [], onUnexpected = () => {} }: GuardOptions,
  open: readonly string[] = [],
): Hono {
  const app = new Hono();
  app.use(async ({ req }, next) => {
    const names = checkNames(req.header("host"), req.header("origin"), allowedHosts);
    const problem = names ?? (open.includes(req.path) ? undefined : checkToken(req.header("authorization"), token));
    if (problem !== undefined) return toResponse(problem);
    await next();
  });
  for (const [path, handlers] of Object.entries(routes)) {
    for (const [method, handler] of Object.entries(handlers)) app.on(method, path, ({ req }) => handler(req.raw));
    const methods = Object.keys(handlers).join(", ");
    app.all(path, () => toResponse(wrongMethod(methods)));
  }
  app.notFound(({ req }) => toResponse({ status: 404, code: "NOT_FOUND", detail: `There is nothing at ${req.path}` }));
  app.onError((error) => {
    const problem = toProblem(error);
    if (problem.status === 500) onUnexpected(error);
    return toResponse(problem);
  });
  return app;
}

function wrongMethod(methods: string): Parameters<typeof toResponse>[0] {
  const detail = `This route answers ${methods}`;
  return { status: 405, code: "METHOD_NOT_ALLOWED", detail, headers: { allow: methods } };
}
