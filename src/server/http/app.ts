// The routes, and what holds for all of them: names and token are checked, errors are problems, nothing is cached.

import { Hono } from "hono";
import type { Runtime } from "../../runtime.ts";
import { VERSION } from "../../util/version.ts";
import { checkNames, checkToken } from "./guard.ts";
import { toProblem, toResponse } from "./problem.ts";
import { execute } from "./routes/execute.ts";

export interface AppOptions {
  readonly token: string;
  /** Host names beside those of loopback. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Hears of every error that the table does not know. Default: nobody. */
  readonly onUnexpected?: (error: unknown) => void;
}

type Handler = (request: Request) => Response | Promise<Response>;
type Method = "GET" | "POST";

export function createApp(runtime: Runtime, { token, allowedHosts = [], onUnexpected = () => {} }: AppOptions): Hono {
  const app = new Hono();

  app.use(async ({ req }, next) => {
    const names = checkNames(req.header("host"), req.header("origin"), allowedHosts);
    const problem = names ?? (req.path === HEALTH ? undefined : checkToken(req.header("authorization"), token));
    if (problem !== undefined) return toResponse(problem);
    await next();
  });

  const route = (path: string, handlers: Partial<Record<Method, Handler>>): void => {
    for (const [method, handler] of Object.entries(handlers)) app.on(method, path, ({ req }) => handler(req.raw));
    const methods = Object.keys(handlers).join(", ");
    app.all(path, () => toResponse(wrongMethod(methods)));
  };
  route(HEALTH, { GET: () => Response.json({ status: "ok", ready: runtime.report().tier !== null }) });
  route("/v1/version", { GET: () => Response.json(toVersions(runtime)) });
  route("/process/interpreter/execute", { POST: (request) => execute(runtime, request) });

  app.notFound(({ req }) => toResponse({ status: 404, code: "NOT_FOUND", detail: `There is nothing at ${req.path}` }));
  app.onError((error) => {
    const problem = toProblem(error);
    if (problem.status === 500) onUnexpected(error);
    return toResponse(problem);
  });
  return app;
}

const HEALTH = "/v1/health";

function toVersions(runtime: Runtime): object {
  const { name, tier, python } = runtime.report();
  return { version: VERSION, node: process.versions.node, python: python?.version ?? null, environment: name, tier };
}

function wrongMethod(methods: string): Parameters<typeof toResponse>[0] {
  const detail = `This route answers ${methods}`;
  return { status: 405, code: "METHOD_NOT_ALLOWED", detail, headers: { allow: methods } };
}
