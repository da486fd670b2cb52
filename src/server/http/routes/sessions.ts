// Sessions: opening, listing, inspecting, interrupting, resetting and closing them.

import type { z } from "zod";
import { isKnownEnvironment, type EnvironmentName } from "../../../environments/registry.ts";
import { EnvironmentUnavailableError, SessionClosedError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import type { SessionOptions } from "../../../session/options.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { checkLimits } from "../../context/check-limits.ts";
import type { ServerContext } from "../../context/server-context.ts";
import { interruptSession } from "../../context/session-requests.ts";
import { ProblemError, toProblem, withArguments } from "../../net/problem.ts";
import { json, routesTagged, type RouteRequest } from "../route.ts";
import { openSessionBody, sessionList } from "../../../protocol/api/sessions.ts";
import { interruptAnswer, sessionInfo } from "../../../protocol/sessions.ts";
import { pageQuery } from "../../../protocol/api/parameters.ts";
import { listSessions } from "../../../views/lists.ts";
import { sessionCreatedAt } from "../session-created.ts";
import { IDEMPOTENCY_KEY, startOnce } from "../start-once.ts";

const route = routesTagged("Sessions");

const open = route("POST", "/v1/sessions", {
  summary: "Open a session",
  headers: IDEMPOTENCY_KEY,
  body: openSessionBody,
  responses: {
    200: { description: "Already opened with the same Idempotency-Key", schema: sessionInfo },
    201: { description: "The open session", schema: sessionInfo },
  },
  problems: [404, 409, 410],
  handle: async ({ request, body }, context) => {
    const { runtime } = context;
    const { id, isRetry, headers } = await startOnce(request, { path: "/v1/sessions", body }, context, async () => {
      checkLimits(body.limits, runtime.limits);
      const options = withDefaults(toOptions(body), context);
      const opened = await openedBy(() => runtime.openSession(options));
      return opened.id;
    });
    return json(await sessionOf({ request, params: { id } }, context).info(), isRetry ? 200 : 201, headers);
  },
});

const list = route("GET", "/v1/sessions", {
  summary: "List the live sessions",
  isLight: true,
  query: pageQuery,
  responses: { 200: { description: "The oldest first", schema: sessionList } },
  handle: async ({ query }, { runtime }) => {
    const { items: sessions, next } = await withArguments(() => listSessions(runtime, query));
    return json({ sessions, next });
  },
});

const show = route("GET", "/v1/sessions/{id}", {
  summary: "The state of a session",
  isLight: true,
  responses: { 200: { description: "Its statistics", schema: sessionInfo } },
  problems: [404, 410],
  handle: async (request, context) => json(await sessionOf(request, context).info()),
});

const close = route("DELETE", "/v1/sessions/{id}", {
  summary: "Close a session and everything in it",
  description: "Closing a session again, within an hour, has the same response.",
  isLight: true,
  responses: { 200: { description: "Its last statistics", schema: sessionInfo } },
  problems: [404, 410],
  handle: async (request, context) => {
    const { live, closed } = find(request, context);
    return json(await (live === undefined && closed !== undefined ? closed.info : sessionOf(request, context).close()));
  },
});

const interrupt = route("POST", "/v1/sessions/{id}/interrupt", {
  isOnce: true,
  summary: "Interrupt the running execution, like Ctrl-C",
  isLight: true,
  description: "Responds when it has stopped, with the state of the namespace. Does nothing when no code is running.",
  responses: { 200: { description: "What was interrupted", schema: interruptAnswer } },
  problems: [404, 410],
  handle: async (request, context) => json(await interruptSession(sessionOf(request, context))),
});

const reset = route("POST", "/v1/sessions/{id}/reset", {
  isOnce: true,
  summary: "Clear the namespace, after all earlier requests",
  description: "Keeps the id, the statistics and the files.",
  responses: { 200: { description: "The empty session", schema: sessionInfo } },
  problems: [404, 410],
  handle: async (request, context) => {
    const found = sessionOf(request, context);
    await found.reset();
    return json(await found.info());
  },
});

export const sessionRoutes = [open, list, show, close, interrupt, reset];

/** Names a session by its id, and may say which one of this id is meant. */
type SessionRequest = Pick<RouteRequest, "request" | "params">;

/** Throws SessionNotFoundError, and SessionClosedError for one that was closed a short while ago, or whose id another one has. */
export function sessionOf(request: SessionRequest, context: ServerContext): Session {
  checkNotClosed(request, context);
  return context.runtime.sessions.get(request.params["id"] ?? "");
}

/** Throws SessionClosedError as `sessionOf` does. */
export function checkNotClosed(request: SessionRequest, context: ServerContext): void {
  const { live, closed, createdAt } = find(request, context);
  if (live !== undefined || (closed === undefined && createdAt === null)) return;
  throw new SessionClosedError({ sessionId: request.params["id"] ?? "", why: closed?.why ?? "it has ended" });
}

/** The live session that is meant, and the one that was closed. */
function find({ request, params: { id = "" } }: SessionRequest, { runtime: { sessions } }: ServerContext) {
  const createdAt = sessionCreatedAt(request);
  const isMeant = (session: { readonly createdAt: string } | undefined): boolean =>
    createdAt === null || session?.createdAt === createdAt;
  const [live, closed] = [sessions.find(id), sessions.closed.get(id)];
  return { createdAt, live: isMeant(live) ? live : undefined, closed: isMeant(closed) ? closed : undefined };
}

/** Arguments and environments that the runtime refuses are problems of the client. */
export function openedBy<Opened>(work: () => Promise<Opened>): Promise<Opened> {
  return withArguments(work).catch(asUnknownEnvironment);
}

/** An environment that the server does not have is an error of the client, who must not try again. */
function asUnknownEnvironment(error: unknown): never {
  if (!(error instanceof EnvironmentUnavailableError) || isKnownEnvironment(error.environment)) throw error;
  const { headers: _, ...problem } = toProblem(error);
  throw new ProblemError({ ...problem, status: 422 });
}

export function toOptions({ limits, environment, ...body }: z.output<typeof openSessionBody>): SessionOptions {
  const name = environment as EnvironmentName | undefined; // the runtime refuses one that it does not have
  return omitUndefined({ ...body, environment: name, limits: limits && omitUndefined(limits) });
}

/** Adds the defaults that the server is configured with. */
export function withDefaults(options: SessionOptions, { sessionDefaults }: ServerContext): SessionOptions {
  const { env } = sessionDefaults;
  return { ...sessionDefaults, ...options, ...(env !== undefined && { env: { ...env, ...options.env } }) };
}
