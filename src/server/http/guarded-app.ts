// What holds for every route, whichever they are: names and token are checked first, errors are problems.

import { Hono, type Context } from "hono";
import { checkNames, checkToken, digest } from "./guard.ts";
import { toProblem, toResponse } from "./problem.ts";

export interface GuardOptions {
  readonly token: string;
  /** Host names beside those of loopback. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Hears of every error that the table does not know. Default: nobody. */
  readonly onUnexpected?: (error: unknown) => void;
}

export interface ServedRoute {
  readonly method: string;
  /** In Hono's way of writing. */
  readonly path: string;
  /** It needs no token. */
  readonly isOpen?: boolean;
  handle(context: Context): Response | Promise<Response>;
}

/** A method that no route of a path has is answered 405. */
export function createGuardedApp(
  routes: readonly ServedRoute[],
  { token, allowedHosts = [], onUnexpected = () => {} }: GuardOptions,
): Hono {
  const app = new Hono();
  const expected = digest(token);
  const open = new Set(routes.filter(({ isOpen }) => isOpen === true).map(({ path }) => path));
  app.use(async ({ req }, next) => {
    const names = checkNames(req.header("host"), req.header("origin"), allowedHosts);
    const problem = names ?? (open.has(req.path) ? undefined : checkToken(req.header("authorization"), expected));
    if (problem !== undefined) return toResponse(problem);
    await next();
  });
  for (const served of routes) app.on(served.method, served.path, (context) => served.handle(context));
  for (const path of new Set(routes.map((served) => served.path))) {
    const own = routes.filter((served) => served.path === path);
    const methods = own.map(({ method }) => method).join(", ");
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
