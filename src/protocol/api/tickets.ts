// Requests and responses about tickets, which open WebSockets where a token cannot be sent.

import { z } from "zod";
import { newSessionId } from "../id-schemas.ts";

export const ticketBody = z
  .strictObject({ sessionId: newSessionId.optional().describe("The only session that it opens. Absent: any") })
  .meta({ id: "TicketRequest" });

export const ticket = z
  .object({
    ticket: z.string().describe("For `?ticket=`; valid once"),
    expiresAt: z.iso.datetime().describe("30 seconds after it was issued"),
  })
  .meta({ id: "Ticket" });

export const webSocketQuery = z.strictObject({
  ticket: z.string().max(200).optional().describe("From `POST /v1/tickets`, where a token cannot be sent"),
});
