// Tickets for WebSockets: what is asked, and what comes back.

import { z } from "zod";
import { sessionId } from "./common.ts";

export const ticketBody = z
  .strictObject({ sessionId: sessionId.optional().describe("The only session that it opens. Absent: any") })
  .meta({ id: "TicketRequest" });

export const ticket = z
  .strictObject({
    ticket: z.string().describe("For `?ticket=`, once"),
    expiresAt: z.iso.datetime().describe("Half a minute from now"),
  })
  .meta({ id: "Ticket" });

export const webSocketQuery = z.strictObject({
  ticket: z.string().max(200).optional().describe("From `POST /v1/tickets`, where a token cannot be sent"),
});
