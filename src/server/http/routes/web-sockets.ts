// Opening a WebSocket: the ticket, and the request that is upgraded.

import { SHUTTING_DOWN, ProblemError, type Problem } from "../../net/problem.ts";
import { json, routesTagged } from "../route.ts";
import { ticket, ticketBody, webSocketQuery } from "../../../protocol/api/tickets.ts";
import { SESSION_CREATED } from "../session-created.ts";
import { sessionOf } from "./sessions.ts";

const route = routesTagged("WebSocket");

const issueTicket = route("POST", "/v1/tickets", {
  summary: "A ticket for one WebSocket, for browsers, which cannot send a token",
  headers: SESSION_CREATED,
  body: ticketBody,
  responses: { 201: { description: "Valid for one use within 30 seconds", schema: ticket } },
  problems: [404, 410],
  handle: ({ request, body }, context) => {
    if (body.sessionId !== undefined) sessionOf({ request, params: { id: body.sessionId } }, context);
    const { ticket: value, expiresAt } = context.tickets.issue(body.sessionId);
    return json({ ticket: value, expiresAt: new Date(expiresAt).toISOString() }, 201);
  },
});

const webSocket = route("GET", "/v1/sessions/{id}/ws", {
  summary: "Watch and use a session over a WebSocket",
  description:
    "Every client gets a `hello` and then every event of the session, as JSON text frames. Each may send `execute`, `interrupt`, " +
    "`cancel`, `stdin`, `follow` and `ping`, and gets a `reply` to each.",
  query: webSocketQuery,
  responses: { 101: { description: "The WebSocket is open" } },
  problems: [404, 410, 426],
  handle: ({ request, requestId, params }, context) => {
    const session = sessionOf({ request, params }, context);
    const upgrade = context.upgrades.get(request);
    if (upgrade === undefined) throw new ProblemError(NO_UPGRADE);
    if (context.draining.aborted) throw new ProblemError(SHUTTING_DOWN);
    upgrade.session = session;
    upgrade.requestId = requestId;
    // Only the log and the metrics see this response: the handshake is written to the socket.
    return Object.defineProperty(new Response(null), "status", { value: 101 });
  },
});

export const webSocketRoutes = [issueTicket, webSocket];

const NO_UPGRADE: Problem = {
  status: 426,
  code: "UPGRADE_REQUIRED",
  detail: "This route is a WebSocket: ask for it with `Upgrade: websocket`",
  headers: { upgrade: "websocket", connection: "upgrade" },
};
