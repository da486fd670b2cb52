// The way into a WebSocket: the ticket, and the request that becomes one.

import { ENDING, ProblemError, type Problem } from "../../net/problem.ts";
import { json, route } from "../route.ts";
import { ticket, ticketBody, webSocketQuery } from "../../../protocol/api/tickets.ts";
import { sessionOf } from "./sessions.ts";

const TAG = "WebSocket";

const give = route({
  method: "POST",
  path: "/v1/tickets",
  tag: TAG,
  summary: "A ticket for one WebSocket, for browsers, which cannot send a token with it",
  body: ticketBody,
  answers: { 201: { description: "Good for one use, within 30 seconds", schema: ticket } },
  problems: [404],
  handle: ({ body }, door) => {
    if (body.sessionId !== undefined) sessionOf({ params: { id: body.sessionId } }, door);
    const { ticket: value, expiresAt } = door.tickets.give(body.sessionId);
    return json({ ticket: value, expiresAt: new Date(expiresAt).toISOString() }, 201);
  },
});

const webSocket = route({
  method: "GET",
  path: "/v1/sessions/{id}/ws",
  tag: TAG,
  summary: "Watch a session and work in it, over a WebSocket",
  description:
    "Every watcher gets every event of the session as a JSON text frame, after a `hello`. Any of them may send `execute`, `interrupt`, " +
    "`cancel`, `stdin`, `follow` and `ping`; each is answered with a `reply`.",
  query: webSocketQuery,
  answers: { 101: { description: "It is a WebSocket from here on" } },
  problems: [404, 426],
  handle: (asked, door) => {
    const session = sessionOf(asked, door);
    const upgrade = door.upgrades.get(asked.request);
    if (upgrade === undefined) throw new ProblemError(NO_UPGRADE);
    if (door.draining.aborted) throw new ProblemError(ENDING);
    upgrade.session = session;
    upgrade.requestId = asked.requestId;
    // Only the log and the metrics see it: the answer itself is made where the socket is.
    return Object.defineProperty(new Response(null), "status", { value: 101 });
  },
});

export const webSocketRoutes = [give, webSocket];

const NO_UPGRADE: Problem = {
  status: 426,
  code: "UPGRADE_REQUIRED",
  detail: "This route is a WebSocket: ask for it with `Upgrade: websocket`",
  headers: { upgrade: "websocket", connection: "upgrade" },
};
