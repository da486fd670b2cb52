// Sessions: opening, listing, inspecting, interrupting, resetting and closing them.

import type { z } from "zod";
import type { Session } from "../../../session/session.ts";
import type { SessionOptions } from "../../../session/options.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { checkLimits } from "../../context/check-limits.ts";
import type { ServerContext } from "../../context/server-context.ts";
import { interruptSession } from "../../context/session-requests.ts";
import { withArguments } from "../../net/problem.ts";
import { json, routesTagged, type RouteRequest } from "../route.ts";
import { openSessionBody, sessionList } from "../../../protocol/api/sessions.ts";
import { interruptAnswer, sessionInfo } from "../../../protocol/sessions.ts";
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
  problems: [409],
  handle: async ({ request, body }, context) => {
    const { runtime } = context;
    const { id, isRetry, headers } = await startOnce(request, { path: "/v1/sessions", body }, context, async () => {
      checkLimits(body.limits, runtime.limits);
      const opened = await withArguments(() => runtime.openSession(withDefaults(toOptions(body), context)));
      return opened.id;
    });
    return json(await runtime.sessions.get(id).info(), isRetry ? 200 : 201, headers);
  },
});

const list = route("GET", "/v1/sessions", {
  summary: "List the live sessions",
  isLight: true,
  responses: { 200: { description: "All of them", schema: sessionList } },
  handle: async (_request, { runtime }) => {
    const sessions = await Promise.all(runtime.sessions.list().map((one) => one.info()));
    return json({ sessions });
  },
});

const show = route("GET", "/v1/sessions/{id}", {
  summary: "The state of a session",
  isLight: true,
  responses: { 200: { description: "Its statistics", schema: sessionInfo } },
  problems: [404],
  handle: async (request, context) => json(await sessionOf(request, context).info()),
});

const close = route("DELETE", "/v1/sessions/{id}", {
  summary: "Close a session and everything in it",
  isLight: true,
  responses: { 200: { description: "Its last statistics", schema: sessionInfo } },
  problems: [404],
  handle: async (request, context) => json(await sessionOf(request, context).close()),
});

const interrupt = route("POST", "/v1/sessions/{id}/interrupt", {
  summary: "Interrupt the running execution, like Ctrl-C",
  isLight: true,
  description: "Responds when it has stopped, with the state of the namespace. Does nothing when no code is running.",
  responses: { 200: { description: "What was interrupted", schema: interruptAnswer } },
  problems: [404],
  handle: async (request, context) => json(await interruptSession(sessionOf(request, context))),
});

const reset = route("POST", "/v1/sessions/{id}/reset", {
  summary: "Clear the namespace, after all earlier requests",
  description: "Keeps the id, the statistics and the files.",
  responses: { 200: { description: "The empty session", schema: sessionInfo } },
  problems: [404],
  handle: async (request, context) => {
    const found = sessionOf(request, context);
    await found.reset();
    return json(await found.info());
  },
});

export const sessionRoutes = [open, list, show, close, interrupt, reset];

/** Throws SessionNotFoundError. */
export function sessionOf({ params }: Pick<RouteRequest, "params">, { runtime }: ServerContext): Session {
  return runtime.sessions.get(params["id"] ?? "");
}

function toOptions({ limits, ...body }: z.output<typeof openSessionBody>): SessionOptions {
  return omitUndefined({ ...body, limits: limits && omitUndefined(limits) });
}

/** Adds the defaults that the server is configured with. */
export function withDefaults(options: SessionOptions, { sessionDefaults }: ServerContext): SessionOptions {
  const { env } = sessionDefaults;
  return { ...sessionDefaults, ...options, ...(env !== undefined && { env: { ...env, ...options.env } }) };
}
